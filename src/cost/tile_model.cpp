// SPDX-License-Identifier: Apache-2.0
#include "tile_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace proteus::cost {
namespace {

struct Tile {
  double rows;
  double columns;
  std::size_t rate;  // index into TileParameters::tile_rate
};

constexpr std::array<Tile, 8> kTiles{
    {{256, 128, 0}, {128, 256, 0}, {128, 128, 1}, {256, 64, 2}, {64, 256, 2}, {128, 64, 3}, {64, 128, 3}, {64, 64, 4}}};
constexpr std::array<double, 3> kSplits{1, 2, 4};
constexpr double kPartialSumBytes = 8;  // an fp32 partial sum is written once and read once

double seconds_with(const TileParameters& p, const Gemm& gemm, const Tile& tile, double split) {
  const auto batch = static_cast<double>(gemm.batch);
  const auto m = static_cast<double>(gemm.m);
  const auto n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);

  const double tiles = batch * std::ceil(m / tile.rows) * std::ceil(n / tile.columns) * split;
  const double waves = tiles / p.multiprocessors;
  const double effective_waves = std::max(1.0, waves + p.wave_quantisation * (std::ceil(waves) - waves));
  const double tile_rate = p.peak / p.multiprocessors * p.eta * p.tile_rate[tile.rate];
  const double tile_seconds = 2 * tile.rows * tile.columns * (k / split + p.k0) / tile_rate;
  const double compute = effective_waves * tile_seconds / p.derate;

  const double first = gemm.first_elements > 0 ? gemm.first_elements : m * k;
  double bytes = batch * (gemm.input_bytes * (first + k * n) + gemm.output_bytes * m * n);
  double fixed = p.fixed;
  if (split > 1) {
    bytes += kPartialSumBytes * batch * m * n * split * p.split_traffic;
    fixed += p.split_fixed;
  }
  const double memory = bytes / (p.beta * p.bandwidth);
  const double longer = std::max(compute, memory);
  const double shorter = std::min(compute, memory);
  return longer * std::pow(1 + std::pow(shorter / longer, p.norm), 1 / p.norm) + fixed;
}

}  // namespace

double tile_model_seconds(const TileParameters& parameters, const Gemm& gemm) {
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    for (double split : kSplits) best = std::min(best, seconds_with(parameters, gemm, tile, split));
  }
  return best;
}

}  // namespace proteus::cost
