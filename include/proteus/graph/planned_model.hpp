// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "proteus/model/model.hpp"
#include "proteus/strategy/mesh.hpp"
#include "proteus/strategy/runtime.hpp"
#include "proteus/strategy/strategy.hpp"
#include "proteus/strategy/tree.hpp"

namespace proteus::graph {

/// What is decided before anything is lowered: the ops of one micro-batch over all replicas, and how each is split.
struct PlannedModel {
  strategy::Mesh mesh;
  model::Graph graph;
  std::vector<strategy::OpPlan> plans;  ///< parallel to graph.ops
  std::int64_t micro_batches = 1;       ///< of one replica in an iteration
};

/// Throws InputError where the strategy does not fit the model or the devices.
PlannedModel plan_model(const model::Model& model, const strategy::Strategy& strategy, const strategy::Runtime& runtime,
                        std::int64_t devices);

}  // namespace proteus::graph
