// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "proteus/partition/objects.hpp"

namespace proteus::partition {

enum class PolicyKind : std::uint8_t {
  block,      ///< contiguous islands
  replica,    ///< islands of one pipeline replica next to each other, then as block
  metis,      ///< METIS on the coupling graph
  each,       ///< logical processes in turn, one a rank while ranks last: for tests
  random,     ///< every logical process anywhere: for tests
  automatic,  ///< whichever of replica, block and metis promises the shortest run
};

std::string_view name_of(PolicyKind kind);

struct Policy {
  PolicyKind kind = PolicyKind::block;
  std::uint64_t seed = 0;  ///< of random
};

/// "block", "replica", "metis", "each", "random:SEED" or "auto". Throws InputError.
Policy policy_from(std::string_view text);

/// Which rank hosts which logical process.
struct Assignment {
  int ranks = 1;
  std::shared_ptr<const Objects> objects;
  std::shared_ptr<const std::vector<std::uint32_t>> owner;  ///< by object
  PolicyKind kind = PolicyKind::block;                      ///< that made it: never automatic
};

/// Deals the objects to `ranks` (>= 1; more ranks than objects is legal, some stay empty). Under block and replica:
/// islands in even shares, communicators with the island of their member 0, domains with what they connect. `measured`:
/// as for couplings(), which metis and automatic go by.
Assignment assign(const graph::Job& job, std::shared_ptr<const Objects> objects, const Policy& policy, int ranks,
                  std::span<const double> measured = {});

/// Devices that `rank` simulates, ascending.
std::vector<std::int64_t> local_devices(const Assignment& assignment, int rank);

}  // namespace proteus::partition
