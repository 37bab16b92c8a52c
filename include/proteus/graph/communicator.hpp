// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proteus/cost/communication_cost.hpp"

namespace proteus::graph {

/// Communicators that differ only by an offset: all TP groups, or all pairs of stages 2 and 3. Members are arithmetic
/// on device numbers; no list is stored however large the job.
///
///   device(group, member) = base + sum_j group_j * group_axes[j].stride + sum_i member_i * member_axes[i].stride
///
/// where (group_j) and (member_i) are the mixed-radix digits of `group` and `member`, first axis fastest.
struct CommunicatorFamily {
  struct Axis {
    std::int64_t stride = 0;  ///< may be negative (the last stage to the first)
    std::int64_t size = 1;
    bool operator==(const Axis&) const = default;
  };
  struct Place {
    std::int64_t group = 0;
    std::int64_t member = 0;
  };

  std::string name;  ///< "tp", "dp", "pp 2>3", "embedding", "world"
  std::int64_t base = 0;
  std::vector<Axis> group_axes;
  std::vector<Axis> member_axes;

  std::int64_t groups() const;
  std::int64_t members() const;
  std::int64_t device(std::int64_t group, std::int64_t member) const;
  /// The group and member number of `device`; nothing where it takes no part.
  std::optional<Place> locate(std::int64_t device) const;

  /// Nodes and members per node of one group, on nodes of `gpus_per_node` devices.
  cost::Placement placement(std::int64_t group, int gpus_per_node) const;
  /// Whether every member of `group` lies on one island of `island_size` consecutive devices.
  bool inside_island(std::int64_t group, int island_size) const;

  bool operator==(const CommunicatorFamily&) const = default;
};

}  // namespace proteus::graph
