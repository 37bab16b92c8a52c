// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "proteus/engine/simulation.hpp"

namespace proteus::engine::testing {

using Factory = std::function<std::unique_ptr<LogicalProcess>(std::uint32_t object)>;
using Owners = std::vector<std::uint32_t>;

inline LocalEngine host(const Factory& factory, const std::shared_ptr<const Owners>& owner, Time lookahead, int rank,
                        const EngineOptions& options = {}) {
  LocalEngine engine(rank, owner, lookahead, options);
  for (std::uint32_t object = 0; object < owner->size(); ++object) {
    if ((*owner)[object] == static_cast<std::uint32_t>(rank)) engine.add(object, factory(object));
  }
  return engine;
}

/// All ranks in this process.
inline std::vector<LocalEngine> host_all(const Factory& factory, const Owners& owner, Time lookahead, int ranks,
                                         const EngineOptions& options = {}) {
  auto shared = std::make_shared<const Owners>(owner);
  std::vector<LocalEngine> engines;
  for (int rank = 0; rank < ranks; ++rank) engines.push_back(host(factory, shared, lookahead, rank, options));
  return engines;
}

inline Owners block_owners(std::uint32_t objects, std::uint32_t ranks) {
  Owners owner(objects);
  for (std::uint32_t object = 0; object < objects; ++object) owner[object] = object * ranks / objects;
  return owner;
}

inline Owners random_owners(std::uint32_t objects, std::uint32_t ranks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Owners owner(objects);
  for (std::uint32_t& rank : owner) rank = static_cast<std::uint32_t>(random() % ranks);
  return owner;
}

}  // namespace proteus::engine::testing
