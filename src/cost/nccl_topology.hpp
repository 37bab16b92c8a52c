// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nccl_catalog.hpp"
#include "proteus/cost/communication_cost.hpp"

namespace proteus::cost {

/// A communicator as NCCL sees it: GPUs that NVLink joins across trays count as one node.
struct Group {
  int members = 1;
  int nodes = 1;
  int per_node = 1;
  bool nvlink = false;  ///< the members on a node reach each other over NVLink
};

/// Channels of a ring or tree and the bandwidth of one, GB/s.
struct Channels {
  int count = 1;
  double intra = 0;  ///< inside a node
  double inter = 0;  ///< between nodes
};

/// What NCCL's topology search finds on one kind of node (NVIDIA/nccl, src/graph/search.cc), in closed form.
class NcclTopology {
 public:
  NcclTopology(const cluster::Cluster& cluster, const NcclParameters& parameters);

  /// Throws std::invalid_argument where the numbers of a placement contradict each other, InputError where the
  /// placement needs a network and the node has none.
  Group group(const Placement& placement) const;
  Channels ring(const Group& group) const;
  Channels tree(const Group& group) const;
  /// Whether the switches inside a node reduce for this group.
  bool nvls(const Group& group) const;
  /// NICs that the members on one node use together.
  int nics(const Group& group) const;

  /// Nominal bytes/s between two GPUs of a node.
  double pair_bandwidth() const;
  /// Of a GPU towards those that NVLink does not join it with: PCIe, where the node has some that is slower than its
  /// ports.
  double beside_nvlink() const;
  /// Bytes/s that one GPU has of the node's NICs.
  double nic_share() const;
  double intra_bandwidth() const { return node_.intra_bandwidth.value; }

 private:
  /// Channels inside one node, before any doubling.
  Channels inside(const Group& group) const;
  Channels between(const Group& group) const;
  Channels doubled(Channels channels) const;

  cluster::Node node_;
  NcclParameters parameters_;
  int trays_ = 1;  ///< nodes that one NVLink domain joins
};

}  // namespace proteus::cost
