// SPDX-License-Identifier: Apache-2.0
#include "cluster_yaml.hpp"

#include <algorithm>
#include <cctype>

#include "catalog.hpp"
#include "units.hpp"

namespace proteus::io {
namespace {

namespace fs = std::filesystem;
using cluster::FabricKind;

void read_peak(const YamlItem& item, cluster::Gpu& gpu) {
  const YamlMap map(item, {"fp32", "tf32", "bf16", "fp16", "fp8"});
  for (const auto& [name, rate] : item.entries()) gpu.peak[*data_type_from(name)] = rate.flops();
  if (gpu.peak.empty()) item.fail("is empty", "at least one data type with its peak, as bf16: 312 TFLOP/s");
}

cluster::Gpu read_gpu(const YamlItem& item, const fs::path& catalog) {
  const YamlValue value = resolve_named(item, catalog, "gpus");
  const YamlMap map(
      {value, item.path()},
      with_description_keys({"architecture", "compute_capability", "sm_count", "peak", "memory", "memory_bandwidth",
                             "nvlink_count", "nvlink_bandwidth", "nccl_link_bandwidth", "gemm_efficiency",
                             "stream_efficiency", "in_situ_derate", "kernel_floor"}));
  cluster::Gpu gpu;
  gpu.name = map.at("label").text();
  gpu.architecture = map.at("architecture").text();
  if (auto capability = map.get("compute_capability")) gpu.compute_capability = capability->small_integer(10, 999);
  gpu.sm_count = map.at("sm_count").small_integer(1, 100000);
  read_peak(map.at("peak"), gpu);
  gpu.memory = map.at("memory").bytes();
  if (gpu.memory.value == 0) map.fail("memory", "is zero", "the size of the device memory");
  gpu.memory_bandwidth = map.at("memory_bandwidth").bandwidth();
  gpu.nvlink_count = map.at("nvlink_count").small_integer(0, 1000);
  if (gpu.nvlink_count > 0) gpu.nvlink_bandwidth = map.at("nvlink_bandwidth").bandwidth();
  if (gpu.nvlink_count == 0 && map.has("nvlink_bandwidth")) {
    map.fail("nvlink_bandwidth", "is given though nvlink_count is 0", "no bandwidth, or the number of links");
  }
  if (auto link = map.get("nccl_link_bandwidth")) gpu.nccl_link_bandwidth = link->bandwidth();
  constexpr double kLeastFraction = 0.01;
  gpu.gemm_efficiency = map.at("gemm_efficiency").number(kLeastFraction, 1);
  gpu.stream_efficiency = map.at("stream_efficiency").number(kLeastFraction, 1);
  gpu.in_situ_derate = map.at("in_situ_derate").number(kLeastFraction, 1);
  gpu.kernel_floor = map.at("kernel_floor").time();
  gpu.source = map.text_or("source", "");
  gpu.confidence = map.text_or("confidence", "");
  return gpu;
}

cluster::Node read_node(const YamlItem& item, const fs::path& catalog) {
  const YamlValue value = resolve_named(item, catalog, "nodes");
  const YamlMap map(
      {value, item.path()},
      with_description_keys({"gpu", "gpus", "nvlink_domain", "nvswitch", "nvlink_sharp", "intra_bandwidth", "nics",
                             "nic_bandwidth", "nic_latency", "amd_host", "pcie_bandwidth"}));
  cluster::Node node;
  node.name = map.at("label").text();
  node.gpu = read_gpu(map.at("gpu"), catalog);
  node.gpus = map.at("gpus").small_integer(1, 1024);
  node.nvlink_domain = map.at("nvlink_domain").small_integer(1, 65536);
  if (std::max(node.nvlink_domain, node.gpus) % std::min(node.nvlink_domain, node.gpus) != 0) {
    map.fail("nvlink_domain",
             std::to_string(node.nvlink_domain) + " with " + std::to_string(node.gpus) + " GPUs a node",
             "a divisor or a multiple of the GPUs");
  }
  node.nvswitch = map.at("nvswitch").boolean();
  node.nvlink_sharp = map.at("nvlink_sharp").boolean();
  node.intra_bandwidth = map.at("intra_bandwidth").bandwidth();
  node.nics = map.at("nics").small_integer(1, 1024);
  node.nic_bandwidth = map.at("nic_bandwidth").bandwidth();
  node.nic_latency = map.at("nic_latency").time();
  node.amd_host = map.at("amd_host").boolean();
  node.pcie_bandwidth = map.at("pcie_bandwidth").bandwidth();
  node.source = map.text_or("source", "");
  node.confidence = map.text_or("confidence", "");
  return node;
}

cluster::Fabric read_fabric(const YamlItem& item) {
  const YamlMap map(item, {"kind", "nodes_per_leaf", "oversubscription", "switch_latency", "source"});
  cluster::Fabric fabric;
  fabric.kind = map.at("kind").choice<FabricKind>(
      {{"rail-optimized-fat-tree", FabricKind::rail_optimized_fat_tree}, {"fat-tree", FabricKind::fat_tree}});
  fabric.nodes_per_leaf = map.at("nodes_per_leaf").small_integer(1, 65536);
  fabric.oversubscription = map.at("oversubscription").number(1, 1000);
  fabric.switch_latency = map.at("switch_latency").time();
  fabric.source = map.text_or("source", "");
  return fabric;
}

bool is_version(const std::string& text) {
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; };
  return std::ranges::all_of(text, digit) && std::ranges::count(text, '.') == 1 && text.front() != '.' &&
         text.back() != '.';
}

YamlValue text(const std::string& value) { return YamlValue::string(value); }
YamlValue number(std::int64_t value) { return YamlValue::plain(std::to_string(value)); }
YamlValue number(double value) { return YamlValue::plain(number_text(value)); }
YamlValue flag(bool value) { return YamlValue::plain(value ? "true" : "false"); }
template <class T>
YamlValue quantity(T value) {
  return YamlValue::plain(quantity_text(value));
}

void set_texts(YamlValue& map, const std::string& source, const std::string& confidence) {
  if (!source.empty()) map.set("source", text(source));
  if (!confidence.empty()) map.set("confidence", text(confidence));
}

YamlValue gpu_to_yaml(const cluster::Gpu& gpu) {
  YamlValue map = YamlValue::map();
  map.set("label", text(gpu.name)).set("architecture", text(gpu.architecture));
  if (gpu.compute_capability > 0) map.set("compute_capability", number(std::int64_t{gpu.compute_capability}));
  YamlValue peak = YamlValue::map();
  for (const auto& [type, rate] : gpu.peak) peak.set(std::string(name_of(type)), quantity(rate));
  map.set("sm_count", number(std::int64_t{gpu.sm_count})).set("peak", peak);
  map.set("memory", quantity(gpu.memory)).set("memory_bandwidth", quantity(gpu.memory_bandwidth));
  map.set("nvlink_count", number(std::int64_t{gpu.nvlink_count}));
  if (gpu.nvlink_count > 0) map.set("nvlink_bandwidth", quantity(gpu.nvlink_bandwidth));
  if (gpu.nccl_link_bandwidth.value > 0) map.set("nccl_link_bandwidth", quantity(gpu.nccl_link_bandwidth));
  map.set("gemm_efficiency", number(gpu.gemm_efficiency)).set("stream_efficiency", number(gpu.stream_efficiency));
  map.set("in_situ_derate", number(gpu.in_situ_derate)).set("kernel_floor", quantity(gpu.kernel_floor));
  set_texts(map, gpu.source, gpu.confidence);
  return map;
}

YamlValue node_to_yaml(const cluster::Node& node) {
  YamlValue map = YamlValue::map();
  map.set("label", text(node.name)).set("gpu", gpu_to_yaml(node.gpu)).set("gpus", number(std::int64_t{node.gpus}));
  map.set("nvlink_domain", number(std::int64_t{node.nvlink_domain})).set("nvswitch", flag(node.nvswitch));
  map.set("nvlink_sharp", flag(node.nvlink_sharp)).set("intra_bandwidth", quantity(node.intra_bandwidth));
  map.set("nics", number(std::int64_t{node.nics})).set("nic_bandwidth", quantity(node.nic_bandwidth));
  map.set("nic_latency", quantity(node.nic_latency)).set("amd_host", flag(node.amd_host));
  map.set("pcie_bandwidth", quantity(node.pcie_bandwidth));
  set_texts(map, node.source, node.confidence);
  return map;
}

}  // namespace

cluster::Cluster read_cluster(const YamlItem& item, const fs::path& catalog) {
  const YamlValue value = resolve_named(item, catalog, "clusters");
  const YamlMap map({value, item.path()}, with_description_keys({"node", "nodes", "fabric", "nccl"}));
  cluster::Cluster cluster;
  cluster.name = map.text_or("label", "inline");
  cluster.nodes = map.at("nodes").small_integer(1, 1000000);
  cluster.node = read_node(map.at("node"), catalog);
  cluster.fabric = read_fabric(map.at("fabric"));
  cluster.nccl = map.at("nccl").text();
  if (!is_version(cluster.nccl)) {
    map.fail("nccl", "is " + quoted_for_message(cluster.nccl), "an NCCL version, as \"2.12\"");
  }
  return cluster;
}

YamlValue cluster_to_yaml(const cluster::Cluster& cluster) {
  YamlValue fabric = YamlValue::map();
  const bool rails = cluster.fabric.kind == FabricKind::rail_optimized_fat_tree;
  fabric.set("kind", text(rails ? "rail-optimized-fat-tree" : "fat-tree"));
  fabric.set("nodes_per_leaf", number(std::int64_t{cluster.fabric.nodes_per_leaf}));
  fabric.set("oversubscription", number(cluster.fabric.oversubscription));
  fabric.set("switch_latency", quantity(cluster.fabric.switch_latency));
  set_texts(fabric, cluster.fabric.source, "");
  YamlValue map = YamlValue::map();
  map.set("label", text(cluster.name)).set("nodes", number(std::int64_t{cluster.nodes}));
  map.set("nccl", text(cluster.nccl)).set("fabric", fabric).set("node", node_to_yaml(cluster.node));
  return map;
}

}  // namespace proteus::io
