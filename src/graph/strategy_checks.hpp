// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lowering.hpp"

/// What a strategy may say and no lowering makes sense of. All throw InputError at the line that says it.
namespace proteus::graph {

/// Stages are groups of neighbouring devices that share programs: their axis splits nothing else.
void check_stage_axis(const strategy::Strategy& strategy, const strategy::Mesh& mesh);

/// What the tree may say but no lowering does yet is refused rather than ignored.
void check_lowered(const strategy::Strategy& strategy, const strategy::Mesh& mesh,
                   const std::vector<strategy::OpPlan>& plans);

/// An overlap of gradient reductions that the rules of the runtime never make is refused.
void check_overlap(const LoweringContext& context);

/// Chunks must follow the model: every op in the chunk of what it reads, or in the next.
void check_chunks(const LoweringContext& context, const strategy::Stages& stages);

}  // namespace proteus::graph
