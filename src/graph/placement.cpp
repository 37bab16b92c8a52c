// SPDX-License-Identifier: Apache-2.0
#include "placement.hpp"

namespace proteus::graph {

std::int64_t Placement::stage_of(std::int64_t chunk) const {
  const std::int64_t place = chunk % stages_;
  return turned(local_of(chunk)) ? stages_ - 1 - place : place;
}

std::int64_t Placement::chunk_at(std::int64_t stage, std::int64_t local) const {
  return local * stages_ + (turned(local) ? stages_ - 1 - stage : stage);
}

std::vector<int> Placement::chunks_of(std::int64_t stage) const {
  std::vector<int> chunks;
  for (std::int64_t local = 0; local < per_stage_; ++local) chunks.push_back(static_cast<int>(chunk_at(stage, local)));
  return chunks;
}

}  // namespace proteus::graph
