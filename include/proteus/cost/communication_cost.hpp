// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "proteus/base/quantity.hpp"
#include "proteus/cluster/cluster.hpp"
#include "proteus/cost/cost.hpp"

namespace proteus::cost {

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send_receive };
enum class Algorithm : std::uint8_t { ring, tree, nvls, nvls_tree, point_to_point };
enum class Protocol : std::uint8_t { ll, ll128, simple };

std::string_view name_of(Collective collective);
std::string_view name_of(Algorithm algorithm);
std::string_view name_of(Protocol protocol);

/// How the members of a communicator lie on the cluster: all that its cost depends on.
struct Placement {
  int members = 1;
  int nodes = 1;             ///< nodes that hold at least one member
  int members_per_node = 1;  ///< the largest number of members on one node
  auto operator<=>(const Placement&) const = default;
};

/// The price of one collective on idle links. It ends `latency` + size / bandwidth after its last member arrived.
struct CollectiveCost {
  Time latency;
  BytesPerSecond bandwidth;  ///< algorithm bandwidth: size / transfer time
  double nic_bytes = 0;      ///< bytes that each member's NIC sends (and receives) per byte of size; 0 in a node
  double nvlink_bytes = 0;   ///< the same for each member's NVLink or PCIe port
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  int channels = 1;  ///< CTAs, one SM each, that the kernel holds
  double relative_sigma = 0;
  Provenance provenance = Provenance::roofline;
};

/// NCCL as the cluster's version does it: algorithm and protocol selection, then time.
/// Sizes: all-reduce, broadcast, send/receive: the buffer; all-gather and reduce-scatter: the whole (gathered) buffer;
/// all-to-all: what one member holds.
class CommunicationCost {
 public:
  virtual ~CommunicationCost() = default;
  virtual CollectiveCost collective(Collective kind, Bytes size, const Placement& placement) const = 0;
};

/// Reads catalog/nccl/*.yaml below `catalog`; `cluster.nccl` names the version.
std::unique_ptr<CommunicationCost> make_communication_cost(const cluster::Cluster& cluster,
                                                           const std::filesystem::path& catalog);

}  // namespace proteus::cost
