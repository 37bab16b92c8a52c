// SPDX-License-Identifier: Apache-2.0
#include "nccl_topology.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "proteus/base/error.hpp"

namespace proteus::cost {
namespace {

constexpr int kFirstWithNvls = 90;
constexpr double kGiga = 1e9;

}  // namespace

NcclTopology::NcclTopology(const cluster::Cluster& cluster, const NcclParameters& parameters)
    : node_(cluster.node), parameters_(parameters) {
  if (node_.gpus < 1 || node_.intra_bandwidth.value <= 0) {
    throw InputError({"catalog/nodes/" + node_.name + ".yaml", 0, 0}, "gpus",
                     "the node has no GPUs or no bandwidth between them", "both above 0");
  }
  trays_ = std::max(1, node_.nvlink_domain / node_.gpus);
}

Group NcclTopology::group(const Placement& p) const {
  const bool consistent = p.members >= 1 && p.nodes >= 1 && p.members_per_node >= 1 && p.members >= p.nodes &&
                          static_cast<std::int64_t>(p.nodes) * p.members_per_node >= p.members;
  if (!consistent) throw std::invalid_argument("placement: members do not fit nodes and members_per_node");
  Group group{p.members, p.nodes, p.members_per_node, false};
  if (trays_ > 1) {
    group.nodes = (p.nodes + trays_ - 1) / trays_;
    group.per_node = std::min(p.members, p.members_per_node * std::min(trays_, p.nodes));
  }
  group.nvlink = node_.nvlink_domain > 1 && group.per_node <= node_.nvlink_domain;
  if (group.nodes > 1 && (node_.nics < 1 || node_.nic_bandwidth.value <= 0)) {
    throw InputError({"catalog/nodes/" + node_.name + ".yaml", 0, 0}, "nics",
                     "a collective leaves the node, which has no NIC", "at least one NIC with a bandwidth");
  }
  return group;
}

int NcclTopology::nics(const Group& group) const {
  const int all = node_.nics * trays_;
  const auto share =
      static_cast<int>(static_cast<std::int64_t>(all) * group.per_node / (std::int64_t{node_.gpus} * trays_));
  return std::clamp(share, 1, all);
}

double NcclTopology::nic_share() const {
  return std::min(1.0, static_cast<double>(node_.nics) / node_.gpus) * node_.nic_bandwidth.value;
}

double NcclTopology::pair_bandwidth() const {
  if (node_.nvlink_domain == 1) return beside_nvlink();
  if (node_.nvlink_domain < 3 || node_.nvswitch) return node_.intra_bandwidth.value;
  return node_.intra_bandwidth.value / (node_.nvlink_domain - 1);
}

double NcclTopology::beside_nvlink() const {
  const double ports = node_.intra_bandwidth.value;
  return node_.pcie_bandwidth.value > 0 ? std::min(ports, node_.pcie_bandwidth.value) : ports;
}

Channels NcclTopology::inside(const Group& group) const {
  const cluster::Gpu& gpu = node_.gpu;
  if (group.nvlink && gpu.nvlink_count > 0) {
    const double link = gpu.nccl_link_bandwidth.value > 0
                            ? gpu.nccl_link_bandwidth.value
                            : parameters_.unknown_link_efficiency * node_.intra_bandwidth.value / gpu.nvlink_count;
    int ports = gpu.nvlink_count;
    if (!node_.nvswitch && node_.nvlink_domain > 2) {
      // Links of a mesh lead to fixed neighbours: a part of the members sees its part of them.
      const double part = static_cast<double>(group.per_node - 1) / (node_.nvlink_domain - 1);
      ports = std::max(1, static_cast<int>(std::lround(ports * part)));
    }
    return {ports, link / kGiga, 0};
  }
  return {parameters_.pcie_channels, beside_nvlink() / parameters_.pcie_channels / kGiga, 0};
}

Channels NcclTopology::between(const Group& group) const {
  Channels channels{nics(group), 0, parameters_.network_speed};
  if (group.per_node > 1) {
    // A ring enters a node once and leaves it once: of k members, k - 1 send to a neighbour inside.
    const Channels local = inside(group);
    const double reach = local.count * local.intra * group.per_node / (group.per_node - 1.0);
    channels.inter = std::min(channels.inter, reach / channels.count);
  }
  channels.intra = channels.inter;
  return channels;
}

Channels NcclTopology::doubled(Channels channels) const {
  const double speed = channels.intra;
  if (speed < parameters_.duplicate_speed) return channels;
  const bool limited = parameters_.duplicate_channels > 0 && channels.count > parameters_.duplicate_channels;
  if (limited && speed < parameters_.duplicate_always_speed) return channels;
  return {channels.count * 2, channels.intra / 2, channels.inter / 2};
}

Channels NcclTopology::ring(const Group& group) const {
  return doubled(group.nodes == 1 ? inside(group) : between(group));
}

Channels NcclTopology::tree(const Group& group) const {
  if (group.nodes == 1) return doubled(inside(group));
  Channels channels = between(group);
  if (group.per_node > 1) {
    // The search lets trees run up to twice as fast inside a node as outside.
    const Channels local = inside(group);
    channels.intra = std::max(channels.inter, std::min(2 * channels.inter, local.count * local.intra / channels.count));
  }
  return doubled(channels);
}

bool NcclTopology::nvls(const Group& group) const {
  return node_.nvlink_sharp && group.nvlink && node_.gpu.compute_capability >= kFirstWithNvls &&
         parameters_.nvls_heads > 0 && parameters_.era.nvls_rule != NvlsRule::none &&
         group.per_node >= parameters_.nvls_least_members;
}

}  // namespace proteus::cost
