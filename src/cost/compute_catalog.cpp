// SPDX-License-Identifier: Apache-2.0
#include "compute_catalog.hpp"

#include <algorithm>
#include <string>

#include "yaml_section.hpp"

namespace proteus::cost {
namespace {

void read_shape(const YamlSection& shape, ComputeParameters& out) {
  shape.only({"eta", "beta", "t0_us", "k0", "wave_quantisation", "tile_rate", "p", "q", "relative_sigma", "source"});
  out.eta = shape.at("eta").positive();
  out.gemm_sigma = shape.at("relative_sigma").positive();
  out.tile.beta = shape.at("beta").positive();
  out.tile.fixed = shape.at("t0_us").number() * 1e-6;
  out.tile.k0 = shape.at("k0").number();
  out.tile.wave_quantisation = shape.at("wave_quantisation").number();
  out.tile.norm = shape.at("p").positive();
  out.tile.split_traffic = shape.at("q").number();
  const YamlSection rate = shape.at("tile_rate");
  rate.only({"256x128", "128x128", "256x64", "128x64", "64x64"});
  out.tile.tile_rate = {rate.at("256x128").positive(), rate.at("128x128").positive(), rate.at("256x64").positive(),
                        rate.at("128x64").positive(), rate.at("64x64").positive()};
}

void read_fp32(const YamlSection& families, const cluster::Gpu& gpu, ComputeParameters& out) {
  out.fp32_single = out.fp32_batched = gpu.gemm_efficiency;
  for (const std::string& family : families.keys()) {
    const YamlSection entry = families.at(family);
    entry.only({"single", "batched", "gpus"});
    if (!entry.at("gpus").contains(gpu.name)) continue;
    out.fp32_single = entry.at("single").positive();
    out.fp32_batched = entry.at("batched").positive();
    out.fp32_fitted = true;
  }
}

void read_gemm(const YamlSection& gemm, const cluster::Gpu& gpu, ComputeParameters& out) {
  gemm.only({"shapes", "fitted", "fallback", "split_k_us", "alignment_bytes", "misaligned_rate", "fp8_eta_factor",
             "fp32_relative_sigma", "fp32"});
  const YamlSection shapes = gemm.at("shapes");
  out.gemm_fitted = gemm.at("fitted").has(gpu.name);
  if (out.gemm_fitted) {
    read_shape(shapes.at(gemm.at("fitted").at(gpu.name).text()), out);
  } else {
    const YamlSection fallback = gemm.at("fallback");
    fallback.only({"shape", "relative_sigma"});
    read_shape(shapes.at(fallback.at("shape").text()), out);
    out.eta = gpu.gemm_efficiency;
    out.gemm_sigma = fallback.at("relative_sigma").positive();
  }
  out.tile.split_fixed = gemm.at("split_k_us").number() * 1e-6;
  out.alignment_bytes = gemm.at("alignment_bytes").positive();
  out.misaligned_rate = gemm.at("misaligned_rate").positive();
  out.fp8_eta_factor = gemm.at("fp8_eta_factor").at_or_default(gpu.architecture).positive();
  out.fp32_sigma = gemm.at("fp32_relative_sigma").positive();
  read_fp32(gemm.at("fp32"), gpu, out);
}

AttentionTable read_table(const YamlSection& entry, const std::vector<double>& lengths) {
  AttentionTable table;
  table.peak = entry.at("peak_TFLOPs").positive() * 1e12;
  table.backward_rate = entry.at("backward_rate").positive();
  table.relative_sigma = entry.at("relative_sigma").positive();
  const YamlSection measured = entry.at("measured");
  table.forward_only = measured.is("forward");
  if (!table.forward_only && !measured.is("forward_backward")) measured.fail("is unknown", "forward, forward_backward");
  const auto rates = [&](const YamlSection& list) {
    std::vector<double> values = list.numbers(lengths.size());
    for (double& value : values) value *= 1e12;
    return LogTable(lengths, values);
  };
  for (const std::string& key : entry.keys()) {
    if (key.find_first_not_of("0123456789") != std::string::npos) continue;
    const YamlSection size = entry.at(key);
    size.only({"full", "causal"});
    table.full.emplace(std::stoi(key), rates(size.at("full")));
    table.causal.emplace(std::stoi(key), rates(size.at("causal")));
  }
  if (table.full.empty()) entry.fail("has no head size", "keys such as 64 and 128");
  return table;
}

void read_attention(const YamlSection& attention, const cluster::Gpu& gpu, ComputeParameters& out) {
  attention.only({"lengths", "tables", "by_architecture", "measured_on", "scaled_sigma", "query_tile"});
  const std::string name = attention.at("by_architecture").at_or_default(gpu.architecture).text();
  out.attention = read_table(attention.at("tables").at(name), attention.at("lengths").numbers());
  out.attention.query_tile = attention.at("query_tile").positive();
  out.attention_fitted = attention.at("measured_on").at(name).contains(gpu.name);
  out.attention_sigma = out.attention_fitted ? out.attention.relative_sigma : attention.at("scaled_sigma").positive();
}

void read_memory_bound(const YamlSection& section, const cluster::Gpu& gpu, ComputeParameters& out) {
  section.only({"efficiency", "relative_sigma"});
  out.memory_sigma = section.at("relative_sigma").positive();
  const YamlSection efficiency = section.at("efficiency");
  for (std::size_t i = 0; i < kMemoryBoundKinds; ++i) {
    const YamlSection entry = efficiency.at(name_of(static_cast<MemoryBoundKind>(i)));
    // No kernel streams faster than the plainest one.
    out.efficiency[i] = entry.is("stream") ? gpu.stream_efficiency : std::min(entry.positive(), gpu.stream_efficiency);
  }
}

}  // namespace

ComputeParameters read_compute_parameters(const cluster::Gpu& gpu, const std::filesystem::path& catalog) {
  const YamlSection file = YamlSection::load(catalog / "costs" / "compute.yaml");
  file.only({"gemm", "derate_sigma", "attention", "memory_bound"});
  ComputeParameters out;
  read_gemm(file.at("gemm"), gpu, out);
  out.derate_sigma = file.at("derate_sigma").at_or_default(gpu.architecture).number();
  read_attention(file.at("attention"), gpu, out);
  read_memory_bound(file.at("memory_bound"), gpu, out);
  out.tile.bandwidth = gpu.memory_bandwidth.value;
  out.tile.multiprocessors = gpu.sm_count;
  out.tile.derate = gpu.in_situ_derate;
  return out;
}

}  // namespace proteus::cost
