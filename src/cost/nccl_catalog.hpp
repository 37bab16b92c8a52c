// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "log_table.hpp"
#include "proteus/cluster/cluster.hpp"

namespace proteus::cost {

using PerProtocol = std::array<double, 3>;  ///< {LL, LL128, Simple}
using PerNodes = std::array<double, 3>;     ///< one, two, and more nodes

enum class NvlsRule { none, heads, efficiency };

/// Latencies of one kind of link, in us.
struct LinkLatency {
  PerProtocol tree{};
  PerProtocol ring{};
};

/// What NCCL's cost model was in the cluster's version. Latencies in us, bandwidths in GB/s: NCCL's own units.
struct TunerEra {
  LinkLatency base;
  PerProtocol nvls_tree_base{};
  LinkLatency nvlink;
  LinkLatency pcie;
  LinkLatency network;
  double nvls_tree_network = 0;
  double nvls_latency = 0;  ///< 0: no NVLS
  double ll_intra_factor = 1;
  bool net_overhead = false;
  double extra_inter_steps = 0;
  double ring_ll = 0;  ///< LL over bus bandwidth of a ring
  double ring_ll_one_node_gather = 0;
  double single_member_ring_ll128 = 0;
  double plateau_bytes_per_rank = 0;  ///< 0: the other condition counts
  double plateau_bytes_per_channel_rank = 0;
  double plateau_factor = 1;  ///< of the cluster's architecture
  bool tree_network_for_single_member = false;
  NvlsRule nvls_rule = NvlsRule::none;
  int max_channels = 0;
};

/// Everything catalog/nccl/*.yaml says about one cluster.
struct NcclParameters {
  TunerEra era;
  double net_overhead = 0;  ///< us
  double net_overhead_simple_factor = 1;
  PerNodes ll_max{};
  PerNodes ring_ll128{};
  PerNodes tree_ll128{};
  PerNodes tree{};
  PerNodes nvls_tree{};
  double ring_ll128_ratio = 0;
  double tree_ratio = 0;
  double tree_ll_ratio = 0;
  double tree_ll128_one_node_ratio = 0;
  double tree_ll128_ratio = 0;
  double nvls_conversion = 0;
  bool ll128 = false;  ///< enabled for this GPU
  std::array<std::vector<double>, 3> tree_correction;
  PerProtocol threads{};
  PerProtocol thread_threshold{};

  double network_speed = 0;           ///< GB/s of a channel on one NIC; 0 without NICs
  double duplicate_speed = 0;         ///< channels from this speed on are doubled ...
  double duplicate_always_speed = 0;  ///< ... and whatever their number from this speed on
  int duplicate_channels = 0;         ///< ... where there are no more than this; 0: no limit
  double unknown_link_efficiency = 0;
  int nvls_heads = 0;  ///< 0: the architecture has no NVLS
  double nvls_head_speed = 0;
  double nvls_efficiency = 0;
  int nvls_least_members = 0;
  int one_node_ring_cap = 0;
  int nvls_blocks = 0;
  int nvls_tree_blocks = 0;
  int pcie_channels = 0;

  double p2p_nvlink_latency = 0;  ///< us
  double p2p_nvlink_efficiency = 0;
  double p2p_network_latency = 0;  ///< us
  double p2p_nvlink_chunk = 0;     ///< bytes
  double p2p_network_chunk = 0;
  int p2p_nvlink_channels = 0;
  int p2p_network_channels = 0;
  double all_to_all_efficiency = 0;
  double all_to_all_latency = 0;  ///< us
  LogTable message_efficiency;    ///< over bytes

  LogTable one_node_correction;  ///< over bytes
  bool correction_measured = false;
  std::vector<double> sigma_bounds;  ///< bytes
  std::vector<double> sigma;
  std::vector<double> tree_sigma;  ///< of trees across nodes
};

/// Throws InputError where a file is broken or `cluster.nccl` is no version.
NcclParameters read_nccl_parameters(const cluster::Cluster& cluster, const std::filesystem::path& catalog);

}  // namespace proteus::cost
