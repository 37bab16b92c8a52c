// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "proteus/strategy/strategy.hpp"

namespace proteus::graph {

/// One entry of a pipeline schedule.
struct Slot : strategy::Pass {
  /// Backward behind a forward with which it makes one step: both exchange with their neighbours behind the pair.
  bool paired = false;
  bool forward() const { return kind == strategy::PassKind::forward; }
  bool weights_only() const { return kind == strategy::PassKind::weight_gradient; }
  bool completes_weights() const { return kind == strategy::PassKind::backward || weights_only(); }
  bool operator==(const Slot&) const = default;
};

struct Pipeline {
  std::int64_t stages = 1;
  std::int64_t chunks = 1;  ///< model chunks per stage
  std::int64_t micro_batches = 1;
  /// Interleaved 1F1B with as many micro-batches as stages runs all forwards first (a habit of the runtime).
  bool all_forwards_first = false;
};

/// The order in which stage `stage` runs its micro-batches.
/// GPipe: Huang et al. 2019. 1F1B: Narayanan et al. 2021 (PipeDream-Flush). Interleaved 1F1B: Narayanan et al. 2021
/// (SC21) section 2.2, in the order of megatron/core/pipeline_parallel/schedules.py (groups of `stages` micro-batches).
/// ZB-H1: Qi et al., ICLR 2024 (arXiv:2401.10241), section 2.3: 1F1B with the weight gradients `stage` micro-batches
/// behind, so that every stage has as many in flight. Not for SchedulePolicy::listed.
std::vector<Slot> schedule(strategy::SchedulePolicy policy, const Pipeline& pipeline, std::int64_t stage);

}  // namespace proteus::graph
