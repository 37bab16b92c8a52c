// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "proteus/strategy/strategy.hpp"

namespace proteus::graph {

/// One entry of a pipeline schedule: forward or backward of one micro-batch through one model chunk.
struct Slot {
  bool forward = true;
  std::int64_t chunk = 0;
  std::int64_t micro_batch = 0;
  /// Backward behind a forward with which it makes one step: both exchange with their neighbours behind the pair.
  bool paired = false;
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
std::vector<Slot> schedule(strategy::SchedulePolicy policy, const Pipeline& pipeline, std::int64_t stage);

}  // namespace proteus::graph
