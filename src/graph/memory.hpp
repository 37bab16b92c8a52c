// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lowering.hpp"
#include "schedule.hpp"

namespace proteus::graph {

/// Memory of one device on `stage` over an iteration that runs `slots`: parameters, gradients and optimizer states;
/// activations saved between forward and backward of each micro-batch, by liveness (a tensor saved by several ops
/// counts once, recomputed runs keep what they read); the largest temporaries of a pass.
MemoryPlan plan_memory(const LoweringContext& context, const Job& job, int stage, const std::vector<Slot>& slots);

}  // namespace proteus::graph
