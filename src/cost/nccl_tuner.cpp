// SPDX-License-Identifier: Apache-2.0
#include "nccl_tuner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace proteus::cost {
namespace {

constexpr std::array kAlgorithms{Algorithm::ring, Algorithm::tree, Algorithm::nvls, Algorithm::nvls_tree};
constexpr std::array kProtocols{Protocol::ll, Protocol::ll128, Protocol::simple};
constexpr double kTreeBusToAlgorithm = 0.5;  // data go up once and down once
constexpr double kCorrectionUnit = 64;       // bytes; index of the tree correction is log2(size / 64)

std::size_t index_of(Protocol protocol) { return static_cast<std::size_t>(protocol); }

std::size_t nodes_index(const Group& group) { return static_cast<std::size_t>(std::min(group.nodes, 3) - 1); }

int floor_log2(int value) { return std::bit_width(static_cast<unsigned>(value)) - 1; }

double ring_steps(Collective kind, const Group& group) {
  switch (kind) {
    case Collective::all_reduce:
      return 2.0 * (group.members - 1);
    case Collective::broadcast:
      return group.members;
    default:
      return group.members - 1;
  }
}

double ring_inter_steps(Collective kind, const Group& group, double extra) {
  if (group.nodes == 1) return 0;
  switch (kind) {
    case Collective::all_reduce:
      return 2.0 * (group.nodes - 1) + extra;
    case Collective::broadcast:
      return group.nodes;
    default:
      return group.nodes - 1;
  }
}

}  // namespace

double NcclTuner::intra_latency(const PerProtocol& nvlink, const PerProtocol& pcie, const Group& group,
                                Protocol protocol) const {
  const double latency = (group.nvlink ? nvlink : pcie)[index_of(protocol)];
  return group.nodes > 1 && protocol == Protocol::ll ? latency * parameters_.era.ll_intra_factor : latency;
}

double NcclTuner::ring_inter_latency(const Group& group, Protocol protocol) const {
  const TunerEra& era = parameters_.era;
  const bool exposed = era.tree_network_for_single_member && group.per_node == 1;
  return (exposed ? era.network.tree : era.network.ring)[index_of(protocol)];
}

TunerEstimate NcclTuner::ring(Collective kind, double size, const Group& group, Protocol protocol) const {
  const TunerEra& era = parameters_.era;
  const Channels channels = topology_.ring(group);
  const std::size_t nodes = nodes_index(group);
  double bus = channels.count * (group.nodes <= 2 ? channels.intra : channels.inter);
  if (protocol == Protocol::ll) {
    const bool gather = kind != Collective::all_reduce && group.nodes == 1;
    bus = std::min(parameters_.ll_max[nodes], bus * (gather ? era.ring_ll_one_node_gather : era.ring_ll));
  } else if (protocol == Protocol::ll128) {
    const bool single = static_cast<double>(group.members) / group.nodes < 2;
    bus = std::min(bus * (single ? era.single_member_ring_ll128 : parameters_.ring_ll128_ratio),
                   channels.count * parameters_.ring_ll128[nodes]);
  }

  const double steps = ring_steps(kind, group);
  const double inter_steps = ring_inter_steps(kind, group, era.extra_inter_steps);
  double intra = intra_latency(era.nvlink.ring, era.pcie.ring, group, protocol);
  if (group.nodes > 1 && era.net_overhead) {
    const double factor = protocol == Protocol::simple ? parameters_.net_overhead_simple_factor : 1;
    intra = std::max(intra, parameters_.net_overhead * factor);
  }
  TunerEstimate result{Algorithm::ring, protocol, 0, 1, bus * group.members / steps, 1};
  result.latency = era.base.ring[index_of(protocol)] + std::max(0.0, steps - inter_steps) * intra +
                   inter_steps * ring_inter_latency(group, protocol);
  if (kind == Collective::all_reduce && protocol == Protocol::simple && group.nodes > 1) {
    const double per_rank = size / group.members;
    const bool plateau = era.plateau_bytes_per_rank > 0
                             ? per_rank >= era.plateau_bytes_per_rank
                             : per_rank / channels.count >= era.plateau_bytes_per_channel_rank;
    if (plateau) result.bias = era.plateau_factor;
  }
  result.channels = thread_blocks(result, channels, size, group);
  return result;
}

TunerEstimate NcclTuner::tree(double size, const Group& group, Protocol protocol) const {
  const TunerEra& era = parameters_.era;
  const Channels channels = topology_.tree(group);
  const std::size_t nodes = nodes_index(group);
  double bus = channels.count * (group.nodes <= 2 ? channels.intra : channels.inter);
  bus = std::min(bus * parameters_.tree_ratio, channels.count * parameters_.tree[nodes]);
  if (protocol == Protocol::ll) {
    bus = std::min(bus * parameters_.tree_ll_ratio, parameters_.ll_max[nodes]);
  } else if (protocol == Protocol::ll128) {
    bus = std::min(bus * (group.nodes == 1 ? parameters_.tree_ll128_one_node_ratio : parameters_.tree_ll128_ratio),
                   channels.count * parameters_.tree_ll128[nodes]);
  }
  const std::vector<double>& correction = parameters_.tree_correction[index_of(protocol)];
  const auto step = static_cast<std::size_t>(std::log2(std::max(1.0, size / kCorrectionUnit)));
  if (step < correction.size()) bus *= correction[step];

  const double intra = intra_latency(era.nvlink.tree, era.pcie.tree, group, protocol);
  const double hops = (group.per_node - 1) * intra + floor_log2(group.nodes) * era.network.tree[index_of(protocol)];
  TunerEstimate result{Algorithm::tree,           protocol, era.base.tree[index_of(protocol)] + 2 * hops, 1,
                       bus * kTreeBusToAlgorithm, 1};
  result.channels = thread_blocks(result, channels, size, group);
  return result;
}

TunerEstimate NcclTuner::nvls(Collective kind, const Group& group) const {
  // The switch adds: every member sends the buffer once and receives it once, whatever their number.
  double bandwidth = parameters_.nvls_heads * parameters_.nvls_head_speed * parameters_.nvls_efficiency;
  if (kind != Collective::all_reduce) bandwidth *= (group.per_node - 1.0) / group.per_node;
  return {Algorithm::nvls, Protocol::simple, parameters_.era.nvls_latency, 1, bandwidth, parameters_.nvls_blocks};
}

TunerEstimate NcclTuner::nvls_tree(const Group& group) const {
  const TunerEra& era = parameters_.era;
  const Channels net = topology_.ring(group);
  const double outside = net.count * net.inter;
  const double heads = parameters_.nvls_heads;
  const double inside = heads * parameters_.nvls_head_speed;
  double bandwidth = 0;
  if (era.nvls_rule == NvlsRule::heads) {
    bandwidth = std::min(inside, group.nodes <= 2 ? outside : outside / 2) * parameters_.nvls_conversion;
  } else {
    const double bus =
        std::min({2 * inside * parameters_.nvls_efficiency * (heads - 1) / heads,
                  group.nodes == 2 ? 2 * outside : outside, net.count * parameters_.nvls_tree[nodes_index(group)]});
    bandwidth = bus * group.members / (2.0 * (group.members - 1));
  }
  const double latency = era.nvls_tree_base[index_of(Protocol::simple)] + era.nvls_latency +
                         2.0 * floor_log2(group.nodes) * era.nvls_tree_network;
  return {Algorithm::nvls_tree, Protocol::simple, latency, 1, bandwidth, parameters_.nvls_tree_blocks};
}

int NcclTuner::thread_blocks(const TunerEstimate& estimate, const Channels& channels, double size,
                             const Group& group) const {
  int count = std::min(2 * channels.count, parameters_.era.max_channels);
  if (group.nodes == 1) count = std::min(count, parameters_.one_node_ring_cap);
  const std::size_t protocol = index_of(estimate.protocol);
  double least = parameters_.threads[protocol] * parameters_.thread_threshold[protocol];
  if (estimate.algorithm == Algorithm::ring && estimate.protocol == Protocol::ll) least *= group.members;
  return std::clamp(static_cast<int>(std::min(size / least, static_cast<double>(count))), 1, count);
}

std::optional<TunerEstimate> NcclTuner::estimate(Collective kind, double size, const Group& group, Algorithm algorithm,
                                                 Protocol protocol) const {
  if (protocol == Protocol::ll128 && !(parameters_.ll128 && (group.nvlink || group.per_node == 1))) return std::nullopt;
  const bool simple = protocol == Protocol::simple;
  switch (algorithm) {
    case Algorithm::ring:
      return ring(kind, size, group, protocol);
    case Algorithm::tree:
      if (kind != Collective::all_reduce) return std::nullopt;
      return tree(size, group, protocol);
    case Algorithm::nvls:
      if (kind == Collective::broadcast || !simple || group.nodes > 1 || !topology_.nvls(group)) return std::nullopt;
      return nvls(kind, group);
    case Algorithm::nvls_tree:
      if (kind != Collective::all_reduce || !simple || group.nodes == 1 || !topology_.nvls(group)) return std::nullopt;
      return nvls_tree(group);
    case Algorithm::point_to_point:
      return std::nullopt;
  }
  return std::nullopt;
}

TunerEstimate NcclTuner::choose(Collective kind, double size, const Group& group) const {
  TunerEstimate best = ring(kind, size, group, Protocol::simple);
  for (Algorithm algorithm : kAlgorithms) {
    for (Protocol protocol : kProtocols) {
      const auto candidate = estimate(kind, size, group, algorithm, protocol);
      if (candidate && candidate->compared(size) < best.compared(size)) best = *candidate;
    }
  }
  return best;
}

}  // namespace proteus::cost
