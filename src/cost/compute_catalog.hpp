// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <map>

#include "attention_model.hpp"
#include "proteus/cluster/cluster.hpp"
#include "tile_model.hpp"

namespace proteus::cost {

inline constexpr std::size_t kMemoryBoundKinds = static_cast<std::size_t>(MemoryBoundKind::optimizer) + 1;

/// What catalog/costs/compute.yaml says about one GPU.
struct ComputeParameters {
  TileParameters tile;  ///< everything but peak and eta, which depend on the type
  double eta = 0;
  double gemm_sigma = 0;
  bool gemm_fitted = false;
  double alignment_bytes = 0;
  double misaligned_rate = 1;
  double fp8_eta_factor = 1;
  double fp32_single = 0;  ///< fraction of the vector peak
  double fp32_batched = 0;
  double fp32_sigma = 0;
  bool fp32_fitted = false;
  double derate_sigma = 0;
  AttentionTable attention;
  double attention_sigma = 0;
  bool attention_fitted = false;
  std::array<double, kMemoryBoundKinds> efficiency{};  ///< by MemoryBoundKind
  double memory_sigma = 0;
};

/// Throws InputError where the file is broken.
ComputeParameters read_compute_parameters(const cluster::Gpu& gpu, const std::filesystem::path& catalog);

}  // namespace proteus::cost
