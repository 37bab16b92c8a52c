// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proteus/cluster/cluster.hpp"
#include "proteus/cost/communication_cost.hpp"
#include "proteus/graph/communicator.hpp"

namespace proteus::partition {

/// The links between nodes, numbered: two for each NIC (out of and into the node) and, where leaf switches are
/// oversubscribed, two for each leaf and rail (up and down). Leaves that are not oversubscribed carry whatever their
/// NICs do, so they have no links of their own.
///
/// Device d talks through NIC (d % gpus) * nics / gpus of its node. Rail-optimized: NIC k of every node is on rail k;
/// otherwise all NICs of a leaf share one pool of uplinks.
class FabricLinks {
 public:
  /// Bytes on `link` for each byte that the NIC of one member sends.
  struct Use {
    std::uint32_t link = 0;
    double weight = 0;
  };

  explicit FabricLinks(const cluster::Cluster& cluster);

  std::uint32_t count() const { return first_uplink_ + 2u * leaves_ * rails_; }
  BytesPerSecond capacity(std::uint32_t link) const { return is_nic(link) ? nic_ : uplink_; }
  bool is_nic(std::uint32_t link) const { return link < first_uplink_; }
  /// "NIC 3 of node 12, out", "leaf 1 rail 3, up".
  std::string name(std::uint32_t link) const;

  /// Links that one collective of `group` loads, ascending. Rings (and whatever is built like one) visit nodes in
  /// member order; all-to-all spreads over all other members; send/receive goes from member 0 to member 1.
  std::vector<Use> uses(const graph::CommunicatorFamily& family, std::int64_t group, cost::Collective kind) const;

 private:
  struct Port {
    std::int64_t node = 0;
    std::int64_t nic = 0;
  };
  Port port(std::int64_t device) const;
  std::uint32_t leaf(const Port& port) const;
  std::uint32_t out(const Port& port) const { return static_cast<std::uint32_t>(2 * (port.node * nics_ + port.nic)); }
  std::uint32_t up(const Port& port) const;
  /// Adds what goes over spines from `from` to `to` where both are not on one leaf switch.
  void cross(const Port& from, const Port& to, double weight, std::vector<Use>& uses) const;
  void ring(const std::vector<Port>& ports, std::vector<Use>& uses) const;
  void all_to_all(const std::vector<Port>& ports, std::vector<Use>& uses) const;

  int gpus_ = 1;
  int nics_ = 0;
  int nodes_per_leaf_ = 1;
  bool rail_optimized_ = true;
  std::uint32_t leaves_ = 0;  ///< 0 where leaves are not oversubscribed
  std::uint32_t rails_ = 0;
  std::uint32_t first_uplink_ = 0;
  BytesPerSecond nic_;
  BytesPerSecond uplink_;
};

}  // namespace proteus::partition
