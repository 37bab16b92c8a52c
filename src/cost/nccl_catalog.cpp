// SPDX-License-Identifier: Apache-2.0
#include "nccl_catalog.hpp"

#include <algorithm>
#include <string>

#include "nccl_version.hpp"
#include "proteus/base/error.hpp"
#include "yaml_section.hpp"

namespace proteus::cost {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
constexpr int kAmpere = 80;
constexpr int kHopper = 90;
constexpr int kBlackwell = 100;

std::array<double, 3> three(const YamlSection& list) {
  const std::vector<double> values = list.numbers(3);
  return {values[0], values[1], values[2]};
}

PerProtocol by_protocol(const YamlSection& map) {
  map.only({"ll", "ll128", "simple"});
  return {map.at("ll").positive(), map.at("ll128").positive(), map.at("simple").positive()};
}

LinkLatency link(const YamlSection& map) {
  map.only({"tree", "ring", "nvls_tree"});
  return {three(map.at("tree")), three(map.at("ring"))};
}

NcclVersion version_of(const YamlSection& text) {
  const auto version = NcclVersion::parse(text.text());
  if (!version) text.fail("is not an NCCL version", "a version such as \"2.18\"");
  return *version;
}

NvlsRule nvls_rule(const YamlSection& word) {
  if (word.is("none")) return NvlsRule::none;
  if (word.is("heads")) return NvlsRule::heads;
  if (word.is("efficiency")) return NvlsRule::efficiency;
  word.fail("is unknown", "none, heads or efficiency");
}

TunerEra read_era(const YamlSection& entry, int compute_capability) {
  entry.only({"from", "base", "nvlink", "pcie", "network", "nvls", "ll_intra_factor", "net_overhead",
              "extra_inter_steps", "ring_ll", "single_member_ring_ll128", "plateau", "tree_network_for_single_member",
              "nvls_rule", "max_channels"});
  TunerEra era;
  era.base = link(entry.at("base"));
  era.nvls_tree_base = three(entry.at("base").at("nvls_tree"));
  era.nvlink = link(entry.at("nvlink"));
  era.pcie = link(entry.at("pcie"));
  era.network = link(entry.at("network"));
  era.nvls_tree_network = entry.at("network").at("nvls_tree").number();
  era.nvls_latency = entry.at("nvls").number();
  era.ll_intra_factor = entry.at("ll_intra_factor").positive();
  era.net_overhead = entry.at("net_overhead").boolean();
  era.extra_inter_steps = entry.at("extra_inter_steps").number();
  era.ring_ll = entry.at("ring_ll").at("all_reduce").positive();
  era.ring_ll_one_node_gather = entry.at("ring_ll").at("one_node_gather").positive();
  era.single_member_ring_ll128 = entry.at("single_member_ring_ll128").positive();
  const YamlSection plateau = entry.at("plateau");
  plateau.only({"bytes_per_rank", "bytes_per_channel_rank", "before_ampere", "since_ampere"});
  era.plateau_bytes_per_rank = plateau.at("bytes_per_rank").number();
  era.plateau_bytes_per_channel_rank = plateau.at("bytes_per_channel_rank").number();
  era.plateau_factor = plateau.at(compute_capability < kAmpere ? "before_ampere" : "since_ampere").positive();
  era.tree_network_for_single_member = entry.at("tree_network_for_single_member").boolean();
  era.nvls_rule = nvls_rule(entry.at("nvls_rule"));
  era.max_channels = entry.at("max_channels").integer();
  return era;
}

YamlSection era_of(const YamlSection& eras, const cluster::Cluster& cluster) {
  const auto wanted = NcclVersion::parse(cluster.nccl);
  if (!wanted) {
    throw InputError({cluster.name, 0, 0}, "nccl", "\"" + cluster.nccl + "\" is not an NCCL version",
                     "a version such as \"2.18\"");
  }
  const std::vector<YamlSection> list = eras.items();
  if (list.empty()) eras.fail("is empty", "at least one era");
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (version_of(list[i].at("from")) <= *wanted) chosen = i;
  }
  return list[chosen];
}

/// NCCL's own classes: what is older than Volta counts as Volta, and AMD parts have no class of their own.
std::string caps_class(int compute_capability) {
  if (compute_capability >= kBlackwell) return "Blackwell";
  if (compute_capability >= kHopper) return "Hopper";
  return compute_capability >= kAmpere || compute_capability == 0 ? "Ampere" : "Volta";
}

void read_tuner(const YamlSection& file, const cluster::Cluster& cluster, NcclParameters& out) {
  file.only({"eras", "net_overhead_us", "bandwidth_caps", "ratios", "ll128_compute_capabilities", "tree_correction",
             "threads", "thread_threshold"});
  const int capability = cluster.node.gpu.compute_capability;
  out.era = read_era(era_of(file.at("eras"), cluster), capability);
  const YamlSection overhead = file.at("net_overhead_us");
  out.net_overhead = overhead.at(cluster.node.amd_host ? "amd" : "intel").positive();
  out.net_overhead_simple_factor = overhead.at("simple_factor").positive();

  const YamlSection caps = file.at("bandwidth_caps").at(caps_class(capability));
  caps.only({"ll_max", "ring_ll128", "tree_ll128", "tree", "nvls_tree"});
  out.ll_max = three(caps.at("ll_max"));
  if (capability < kHopper) {  // several nodes: the class of the CPU
    const PerNodes host = three(file.at("bandwidth_caps").at(cluster.node.amd_host ? "Ampere" : "Volta").at("ll_max"));
    out.ll_max = {out.ll_max[0], host[1], host[2]};
  }
  out.ring_ll128 = three(caps.at("ring_ll128"));
  out.tree_ll128 = three(caps.at("tree_ll128"));
  out.tree = three(caps.at("tree"));
  out.nvls_tree = three(caps.at("nvls_tree"));

  const YamlSection ratios = file.at("ratios");
  ratios.only({"ring_ll128", "tree", "tree_ll", "tree_ll128_one_node", "tree_ll128", "nvls_conversion"});
  out.ring_ll128_ratio = ratios.at("ring_ll128").positive();
  out.tree_ratio = ratios.at("tree").positive();
  out.tree_ll_ratio = ratios.at("tree_ll").positive();
  out.tree_ll128_one_node_ratio = ratios.at("tree_ll128_one_node").positive();
  out.tree_ll128_ratio = ratios.at("tree_ll128").positive();
  out.nvls_conversion = ratios.at("nvls_conversion").positive();

  const std::vector<double> ll128 = file.at("ll128_compute_capabilities").numbers();
  out.ll128 = cluster.node.nvlink_domain > 1 && std::find(ll128.begin(), ll128.end(), capability) != ll128.end();
  const YamlSection correction = file.at("tree_correction");
  correction.only({"ll", "ll128", "simple"});
  out.tree_correction = {correction.at("ll").numbers(), correction.at("ll128").numbers(),
                         correction.at("simple").numbers()};
  out.threads = by_protocol(file.at("threads"));
  out.thread_threshold = by_protocol(file.at("thread_threshold"));
}

void read_speeds(const YamlSection& file, const cluster::Cluster& cluster, NcclParameters& out) {
  const cluster::Gpu& gpu = cluster.node.gpu;
  const double nic = cluster.node.nic_bandwidth.value * 1e-9;
  out.network_speed = nic;
  for (double speed : file.at("network_speeds").at_or_default(gpu.architecture).numbers()) {
    if (speed > nic) continue;
    out.network_speed = speed;
    break;
  }
  const YamlSection duplicate = file.at("duplicate");
  duplicate.only({"speed", "speed_since_hopper", "channels_since_hopper"});
  out.duplicate_speed = duplicate.at("speed").positive();
  if (gpu.compute_capability > kAmpere) {
    out.duplicate_always_speed = duplicate.at("speed_since_hopper").positive();
    out.duplicate_channels = duplicate.at("channels_since_hopper").integer();
  }
  out.unknown_link_efficiency = file.at("unknown_link_efficiency").positive();
  const YamlSection nvls = file.at("nvls");
  if (nvls.has(gpu.architecture)) {
    out.nvls_heads = nvls.at(gpu.architecture).at("heads").integer();
    out.nvls_head_speed = nvls.at(gpu.architecture).at("head_speed").positive();
    out.nvls_efficiency = nvls.at(gpu.architecture).at("efficiency").positive();
  }
  out.nvls_least_members = file.at("nvls_least_members").integer();
  const YamlSection blocks = file.at("thread_blocks");
  blocks.only({"one_node_ring_cap", "nvls", "nvls_tree", "pcie_channels"});
  out.one_node_ring_cap = blocks.at("one_node_ring_cap").at_or_default(gpu.architecture).integer();
  out.nvls_blocks = blocks.at("nvls").at_or_default(gpu.architecture).integer();
  out.nvls_tree_blocks = blocks.at("nvls_tree").at_or_default(gpu.architecture).integer();
  out.pcie_channels = blocks.at("pcie_channels").integer();
}

void read_point_to_point(const YamlSection& file, NcclParameters& out) {
  const YamlSection p2p = file.at("point_to_point");
  p2p.only({"nvlink_latency_us", "nvlink_efficiency", "network_latency_us", "nvlink_chunk_bytes", "network_chunk_bytes",
            "nvlink_channels", "network_channels"});
  out.p2p_nvlink_latency = p2p.at("nvlink_latency_us").positive();
  out.p2p_nvlink_efficiency = p2p.at("nvlink_efficiency").positive();
  out.p2p_network_latency = p2p.at("network_latency_us").positive();
  out.p2p_nvlink_chunk = p2p.at("nvlink_chunk_bytes").positive();
  out.p2p_network_chunk = p2p.at("network_chunk_bytes").positive();
  out.p2p_nvlink_channels = p2p.at("nvlink_channels").integer();
  out.p2p_network_channels = p2p.at("network_channels").integer();
  const YamlSection all_to_all = file.at("all_to_all");
  all_to_all.only({"nvlink_efficiency", "latency_us", "message_bytes", "message_efficiency"});
  out.all_to_all_efficiency = all_to_all.at("nvlink_efficiency").positive();
  out.all_to_all_latency = all_to_all.at("latency_us").positive();
  const std::vector<double> sizes = all_to_all.at("message_bytes").numbers();
  out.message_efficiency = LogTable(sizes, all_to_all.at("message_efficiency").numbers(sizes.size()));
}

void read_correction(const YamlSection& file, const cluster::Cluster& cluster, NcclParameters& out) {
  const YamlSection correction = file.at("one_node_correction");
  correction.only({"default", "by_architecture", "MiB", "ampere", "hopper"});
  const YamlSection known = correction.at("by_architecture");
  const std::string& architecture = cluster.node.gpu.architecture;
  out.correction_measured = known.has(architecture) && cluster.node.nvswitch;
  const std::string table = (known.has(architecture) ? known.at(architecture) : correction.at("default")).text();
  std::vector<double> sizes = correction.at("MiB").numbers();
  for (double& size : sizes) size *= kMebi;
  out.one_node_correction = LogTable(sizes, correction.at(table).numbers(sizes.size()));
  const YamlSection sigma = file.at("relative_sigma");
  sigma.only({"MiB", "value", "tree_across_nodes"});
  out.sigma_bounds = sigma.at("MiB").numbers();
  for (double& bound : out.sigma_bounds) bound *= kMebi;
  out.sigma = sigma.at("value").numbers(out.sigma_bounds.size() + 1);
  out.tree_sigma = sigma.at("tree_across_nodes").numbers(out.sigma_bounds.size() + 1);
}

}  // namespace

NcclParameters read_nccl_parameters(const cluster::Cluster& cluster, const std::filesystem::path& catalog) {
  NcclParameters out;
  read_tuner(YamlSection::load(catalog / "nccl" / "tuner.yaml"), cluster, out);
  const YamlSection topology = YamlSection::load(catalog / "nccl" / "topology.yaml");
  topology.only({"network_speeds", "duplicate", "unknown_link_efficiency", "nvls", "nvls_least_members",
                 "thread_blocks", "point_to_point", "all_to_all", "one_node_correction", "relative_sigma"});
  read_speeds(topology, cluster, out);
  read_point_to_point(topology, out);
  read_correction(topology, cluster, out);
  return out;
}

}  // namespace proteus::cost
