// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "compute_catalog.hpp"
#include "proteus/base/error.hpp"

namespace proteus::cost {
namespace {

double root_of_squares(double a, double b) { return std::sqrt(a * a + b * b); }

// Rows of row-major operands are n or k elements long; m only counts them.
bool misaligned(const Gemm& gemm, double elements) {
  const auto off = [&](std::int64_t size) { return std::fmod(static_cast<double>(size), elements) != 0; };
  return off(gemm.n) || off(gemm.k);
}

class AnalyticComputeCost final : public ComputeCost {
 public:
  AnalyticComputeCost(cluster::Gpu gpu, ComputeParameters parameters)
      : gpu_(std::move(gpu)), parameters_(std::move(parameters)) {}

  Cost gemm(const Gemm& gemm) const override;
  Cost attention(const FusedAttention& attention) const override;
  Cost memory_bound(MemoryBoundKind kind, double bytes) const override;

 private:
  /// The type whose units a product of `type` runs on: a GPU without units for it uses its fp32 vectors.
  /// fp8 has no such stand-in, because the operands do not fit.
  DataType unit_for(DataType type) const;
  double peak(DataType unit) const { return gpu_.peak.at(unit).value; }

  cluster::Gpu gpu_;
  ComputeParameters parameters_;
};

DataType AnalyticComputeCost::unit_for(DataType type) const {
  if (gpu_.peak.contains(type)) return type;
  const bool computes_in_fp32 = type == DataType::tf32 || type == DataType::bf16 || type == DataType::fp16;
  if (computes_in_fp32 && gpu_.peak.contains(DataType::fp32)) return DataType::fp32;
  throw InputError({"catalog/gpus/" + gpu_.name + ".yaml", 0, 0}, "peak." + std::string(name_of(type)),
                   "the GPU has no peak for this type", "a type that the GPU computes in");
}

Cost AnalyticComputeCost::gemm(const Gemm& gemm) const {
  if (gemm.batch < 0 || gemm.m < 0 || gemm.n < 0 || gemm.k < 0) throw std::invalid_argument("GEMM of negative size");
  if (gemm.batch == 0 || gemm.m == 0 || gemm.n == 0 || gemm.k == 0) return {};
  const DataType unit = unit_for(gemm.type);
  TileParameters tile = parameters_.tile;
  tile.peak = peak(unit);
  double sigma = parameters_.gemm_sigma;
  bool fitted = parameters_.gemm_fitted;
  if (unit == DataType::fp32) {
    tile.eta = gemm.batch == 1 ? parameters_.fp32_single : parameters_.fp32_batched;
    tile.k0 = 0;
    tile.derate = 1;
    fitted = parameters_.fp32_fitted;
    sigma = parameters_.fp32_sigma;
  } else {
    tile.eta = parameters_.eta * (unit == DataType::fp8 ? parameters_.fp8_eta_factor : 1);
    fitted = fitted && unit != DataType::fp8;
    if (misaligned(gemm, parameters_.alignment_bytes / size_of(unit))) tile.eta *= parameters_.misaligned_rate;
    sigma = root_of_squares(sigma, parameters_.derate_sigma);
  }
  return {Time::seconds(tile_model_seconds(tile, gemm)), sigma, fitted ? Provenance::fitted : Provenance::roofline};
}

Cost AnalyticComputeCost::attention(const FusedAttention& attention) const {
  if (attention_flops(attention) <= 0) return {};
  const DataType unit = unit_for(attention.type);
  const AttentionTable& table = parameters_.attention;
  const bool measured = parameters_.attention_fitted && (unit == DataType::bf16 || unit == DataType::fp16);
  const double scale = measured ? 1 : peak(unit) / table.peak;
  const double rate = attention_rate(table, attention) * scale * attention_occupancy(table, attention, gpu_.sm_count) *
                      (unit == DataType::fp32 ? 1 : gpu_.in_situ_derate);
  const double compute = attention_flops(attention) / rate;
  const double memory = attention_bytes(attention) / (gpu_.memory_bandwidth.value * gpu_.stream_efficiency);
  const double seconds = std::max({compute, memory, gpu_.kernel_floor.to_seconds()});
  return {Time::seconds(seconds), root_of_squares(parameters_.attention_sigma, parameters_.derate_sigma),
          measured ? Provenance::fitted : Provenance::roofline};
}

Cost AnalyticComputeCost::memory_bound(MemoryBoundKind kind, double bytes) const {
  if (!(bytes >= 0)) throw std::invalid_argument("memory traffic is negative");
  if (bytes == 0) return {};
  const double rate = parameters_.efficiency[static_cast<std::size_t>(kind)] * gpu_.memory_bandwidth.value;
  return {Time::seconds(bytes / rate) + gpu_.kernel_floor, parameters_.memory_sigma,
          parameters_.gemm_fitted ? Provenance::fitted : Provenance::roofline};
}

void check(const cluster::Gpu& gpu) {
  const auto require = [&](bool good, const std::string& key, const std::string& expected) {
    if (good) return;
    throw InputError({"catalog/gpus/" + gpu.name + ".yaml", 0, 0}, key, "is missing or out of range", expected);
  };
  require(std::any_of(gpu.peak.begin(), gpu.peak.end(), [](const auto& entry) { return entry.second.value > 0; }),
          "peak", "a peak for fp32 or a tensor type");
  for (const auto& [type, rate] : gpu.peak) require(rate.value > 0, "peak." + std::string(name_of(type)), "above 0");
  require(gpu.sm_count > 0, "sm_count", "above 0");
  require(gpu.memory_bandwidth.value > 0, "memory_bandwidth", "above 0");
  require(gpu.gemm_efficiency > 0 && gpu.gemm_efficiency <= 1, "gemm_efficiency", "above 0, at most 1");
  require(gpu.stream_efficiency > 0 && gpu.stream_efficiency <= 1, "stream_efficiency", "above 0, at most 1");
  require(gpu.in_situ_derate > 0, "in_situ_derate", "above 0");
  require(gpu.kernel_floor >= Time::zero(), "kernel_floor", "at least 0");
}

}  // namespace

std::unique_ptr<ComputeCost> make_compute_cost(const cluster::Gpu& gpu, const std::filesystem::path& catalog) {
  check(gpu);
  return std::make_unique<AnalyticComputeCost>(gpu, read_compute_parameters(gpu, catalog));
}

}  // namespace proteus::cost
