// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "proteus/cost/compute_cost.hpp"

namespace proteus::cost {

/// Parameters of the tile/wave model of one GPU family and one machine (catalog/costs/compute.yaml).
struct TileParameters {
  double peak = 0;       ///< FLOP/s of all multiprocessors
  double bandwidth = 0;  ///< bytes/s of device memory
  int multiprocessors = 0;
  double eta = 0;                     ///< fraction of peak of the best tile
  double beta = 0;                    ///< fraction of the memory bandwidth
  double fixed = 0;                   ///< seconds of every call
  double k0 = 0;                      ///< elements of k that prologue and epilogue of a tile cost
  double wave_quantisation = 0;       ///< 0: waves blend, 1: the last wave costs a full one
  double norm = 1;                    ///< exponent that joins compute and memory time
  double split_traffic = 0;           ///< factor on the traffic of split-k partial sums
  double split_fixed = 0;             ///< seconds of the reduction after split-k
  double derate = 1;                  ///< in-situ rate over isolated rate, of the compute term only
  std::array<double, 5> tile_rate{};  ///< relative rates of 256x128, 128x128, 256x64, 128x64, 64x64 (and transposed)
};

/// Seconds of the best tile shape and split for a product with positive dimensions.
double tile_model_seconds(const TileParameters& parameters, const Gemm& gemm);

}  // namespace proteus::cost
