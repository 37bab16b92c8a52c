// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "proteus/strategy/strategy.hpp"

namespace proteus::graph {

/// Which stage has which chunk of the model. Chunks are numbered in the order of the model, and those of a stage
/// (`local`) in the same order.
class Placement {
 public:
  Placement(strategy::ChunkPlacement kind, std::int64_t stages, std::int64_t chunks_per_stage)
      : kind_(kind), stages_(stages), per_stage_(chunks_per_stage) {}

  std::int64_t stages() const { return stages_; }
  std::int64_t chunks() const { return stages_ * per_stage_; }
  std::int64_t chunks_per_stage() const { return per_stage_; }
  std::int64_t stage_of(std::int64_t chunk) const;
  std::int64_t local_of(std::int64_t chunk) const { return chunk / stages_; }
  /// The inverse of the two.
  std::int64_t chunk_at(std::int64_t stage, std::int64_t local) const;
  std::vector<int> chunks_of(std::int64_t stage) const;
  /// Whether something is sent from `chunk` to the one behind it.
  bool crosses(std::int64_t chunk) const { return stage_of(chunk) != stage_of(chunk + 1); }

 private:
  bool turned(std::int64_t local) const { return kind_ == strategy::ChunkPlacement::v && local % 2 == 1; }

  strategy::ChunkPlacement kind_;
  std::int64_t stages_;
  std::int64_t per_stage_;
};

}  // namespace proteus::graph
