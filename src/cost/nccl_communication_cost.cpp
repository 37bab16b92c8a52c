// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "nccl_tuner.hpp"

namespace proteus::cost {
namespace {

constexpr double kGiga = 1e9;
constexpr double kMicro = 1e-6;

class NcclCommunicationCost final : public CommunicationCost {
 public:
  NcclCommunicationCost(const cluster::Cluster& cluster, const NcclParameters& parameters)
      : parameters_(parameters),
        topology_(cluster, parameters),
        tuner_(topology_, parameters),
        // The tuner's multi-node form was checked against measurements on these architectures only.
        network_checked_(cluster.node.gpu.architecture == "Ampere" || cluster.node.gpu.architecture == "Hopper"),
        local_bandwidth_(cluster.node.gpu.memory_bandwidth) {}

  CollectiveCost collective(Collective kind, Bytes size, const Placement& placement) const override;

 private:
  CollectiveCost tuned(Collective kind, double size, const Group& group) const;
  CollectiveCost send_receive(double size, const Group& group) const;
  CollectiveCost all_to_all(double size, const Group& group) const;
  CollectiveCost alone() const;
  double sigma(double size, const Group& group, Algorithm algorithm) const;
  Provenance provenance(const Group& group) const;

  NcclParameters parameters_;
  NcclTopology topology_;
  NcclTuner tuner_;
  bool network_checked_;
  BytesPerSecond local_bandwidth_;
};

void set_time(CollectiveCost& cost, double latency_us, double bytes_per_second) {
  // Nothing that takes part in a rendezvous may cost no time at all.
  cost.latency = std::max(Time::microseconds(latency_us), Time::picoseconds(1));
  cost.bandwidth = {bytes_per_second};
}

double NcclCommunicationCost::sigma(double size, const Group& group, Algorithm algorithm) const {
  const auto above = std::upper_bound(parameters_.sigma_bounds.begin(), parameters_.sigma_bounds.end(), size);
  const bool tree = group.nodes > 1 && (algorithm == Algorithm::tree || algorithm == Algorithm::nvls_tree);
  const std::vector<double>& values = tree ? parameters_.tree_sigma : parameters_.sigma;
  return values[static_cast<std::size_t>(above - parameters_.sigma_bounds.begin())];
}

Provenance NcclCommunicationCost::provenance(const Group& group) const {
  const bool known = group.nodes == 1 ? parameters_.correction_measured : network_checked_;
  return known ? Provenance::fitted : Provenance::roofline;
}

CollectiveCost NcclCommunicationCost::alone() const {
  CollectiveCost cost;
  cost.bandwidth = local_bandwidth_.value > 0 ? local_bandwidth_ : BytesPerSecond{topology_.intra_bandwidth()};
  return cost;
}

CollectiveCost NcclCommunicationCost::tuned(Collective kind, double size, const Group& group) const {
  const TunerEstimate best = tuner_.choose(kind, size, group);
  // Latency and bandwidth are corrected alike, so that their sum is the corrected time.
  const double correction = group.nodes == 1 ? parameters_.one_node_correction.at(size) : 1;
  CollectiveCost cost;
  set_time(cost, best.latency * correction, best.bandwidth * kGiga / correction);
  cost.algorithm = best.algorithm;
  cost.protocol = best.protocol;
  cost.channels = best.channels;

  const double others = (group.members - 1.0) / group.members;
  const double traffic = kind == Collective::broadcast ? 1 : kind == Collective::all_reduce ? 2 * others : others;
  if (group.nodes > 1) cost.nic_bytes = traffic / group.per_node;
  if (group.per_node > 1) cost.nvlink_bytes = traffic;
  return cost;
}

CollectiveCost NcclCommunicationCost::send_receive(double size, const Group& group) const {
  const bool remote = group.nodes > 1;
  CollectiveCost cost;
  if (remote) {
    set_time(cost, parameters_.p2p_network_latency, topology_.nic_share());
    cost.nic_bytes = 1;
  } else {
    set_time(cost, parameters_.p2p_nvlink_latency, parameters_.p2p_nvlink_efficiency * topology_.pair_bandwidth());
    cost.nvlink_bytes = 1;
  }
  const double chunk = remote ? parameters_.p2p_network_chunk : parameters_.p2p_nvlink_chunk;
  const int most = remote ? parameters_.p2p_network_channels : parameters_.p2p_nvlink_channels;
  cost.channels = std::clamp(static_cast<int>(std::min(std::ceil(size / chunk), static_cast<double>(most))), 1, most);
  cost.algorithm = Algorithm::point_to_point;
  return cost;
}

CollectiveCost NcclCommunicationCost::all_to_all(double size, const Group& group) const {
  const double members = group.members;
  CollectiveCost cost;
  cost.algorithm = Algorithm::point_to_point;
  cost.nvlink_bytes = (group.per_node - 1) / members;
  double seconds_per_byte = cost.nvlink_bytes / (parameters_.all_to_all_efficiency * topology_.intra_bandwidth());
  double latency = parameters_.all_to_all_latency;
  if (group.nodes > 1) {
    cost.nic_bytes = (members - group.per_node) / members;
    const double message = size / members;
    const LogTable& table = parameters_.message_efficiency;
    const double efficiency = table.at(message) * std::min(1.0, message / table.first_x());
    const double nic = topology_.nics(group) * parameters_.network_speed * kGiga / group.per_node;
    seconds_per_byte = std::max(seconds_per_byte, cost.nic_bytes / (nic * efficiency));
    latency += parameters_.p2p_network_latency;
  }
  set_time(cost, latency, 1 / seconds_per_byte);
  const double peers = std::min(members - 1, static_cast<double>(parameters_.p2p_nvlink_channels));
  cost.channels = std::min(static_cast<int>(peers) * parameters_.p2p_network_channels, parameters_.p2p_nvlink_channels);
  return cost;
}

CollectiveCost NcclCommunicationCost::collective(Collective kind, Bytes size, const Placement& placement) const {
  if (size.value < 0) throw std::invalid_argument("collective of negative size");
  const Group group = topology_.group(placement);
  if (group.members == 1) return alone();
  const double bytes = static_cast<double>(std::max<std::int64_t>(size.value, 1));
  CollectiveCost cost = kind == Collective::send_receive ? send_receive(bytes, group)
                        : kind == Collective::all_to_all ? all_to_all(bytes, group)
                                                         : tuned(kind, bytes, group);
  cost.relative_sigma = sigma(bytes, group, cost.algorithm);
  cost.provenance = provenance(group);
  return cost;
}

}  // namespace

std::unique_ptr<CommunicationCost> make_communication_cost(const cluster::Cluster& cluster,
                                                           const std::filesystem::path& catalog) {
  return std::make_unique<NcclCommunicationCost>(cluster, read_nccl_parameters(cluster, catalog));
}

}  // namespace proteus::cost
