// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "proteus/base/error.hpp"
#include "proteus/cost/compute_cost.hpp"
#include "test_hardware.hpp"
#include "tile_model.hpp"

namespace proteus::cost {
namespace {

double seconds(const ComputeCost& cost, Gemm gemm) { return cost.gemm(gemm).time.to_seconds(); }

double tflops(const ComputeCost& cost, std::int64_t m, std::int64_t n, std::int64_t k, DataType type = DataType::fp16) {
  const double element = size_of(type);
  return 2e-12 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) /
         seconds(cost, {1, m, n, k, type, element, element});
}

struct Point {
  std::int64_t m;
  double tflops;
};

// PrincetonUniversity/LLMCompass 2e015fd, ae/figure5: M x 12288 x 12288 in fp16 on an A100. Its rates reach the 295
// TFLOP/s that matrices of zeros give, where random data give 257 (thonking.ai); the fit rests on slower runs and stays
// below. So the band is one-sided, and wider than the 5.4 % mean error on the fitted data.
TEST(GemmCost, StaysWithinAFifthBelowTheRatesOfLlmCompass) {
  const auto cost = make_compute_cost(test::a100(), test::catalog());
  for (const Point& point : std::vector<Point>{{64, 101.7},
                                               {128, 193.0},
                                               {256, 242.7},
                                               {512, 252.7},
                                               {1024, 257.9},
                                               {2048, 262.2},
                                               {4096, 277.5},
                                               {8192, 286.9},
                                               {16384, 290.5}}) {
    const double ratio = tflops(*cost, point.m, 12288, 12288) / point.tflops;
    EXPECT_GT(ratio, 0.80) << point.m;
    EXPECT_LT(ratio, 1.0) << point.m;
  }
}

TEST(GemmCost, MatchesRandomDataOnA100) {  // thonking.ai: 8192^3 at 257 TFLOP/s
  const auto cost = make_compute_cost(test::a100(), test::catalog());
  EXPECT_NEAR(tflops(*cost, 8192, 8192, 8192) / 257, 1, 0.10);
}

TEST(GemmCost, StaysBelowTheBestShapeEverMeasured) {  // stas00/ml-engineering 744d01e, MAMF tables
  const auto a100 = make_compute_cost(test::a100(), test::catalog());
  const auto h100 = make_compute_cost(test::h100(), test::catalog());
  EXPECT_NEAR(tflops(*a100, 16384, 16384, 16384) / 271.2, 0.93, 0.07);
  EXPECT_NEAR(tflops(*h100, 16384, 16384, 16384) / 794.5, 0.94, 0.06);
  EXPECT_NEAR(tflops(*h100, 16384, 16384, 16384, DataType::fp8) / 1402.6, 0.95, 0.05);
}

TEST(GemmCost, FollowsTheFormulaByHand) {
  TileParameters p;
  p.peak = 312e12;
  p.bandwidth = 2039e9;
  p.multiprocessors = 108;
  p.eta = 0.764;
  p.beta = 0.827;
  p.fixed = 1.5e-6;
  p.k0 = 100;
  p.wave_quantisation = 0.37;
  p.norm = 3.2;
  p.split_traffic = 0.76;
  p.split_fixed = 1.5e-6;
  p.tile_rate = {0.01, 0.985, 0.01, 0.01, 0.01};  // leaves only tiles of 128 x 128 in the race
  // 12 x 12 tiles on 108 multiprocessors: 4/3 of a wave, of which the rest of the second counts 0.37.
  const Gemm gemm{1, 1536, 1536, 16384, DataType::fp16, 2, 2};
  const double waves = 4.0 / 3 + 0.37 * (2 - 4.0 / 3);
  const double compute = waves * 2 * 128.0 * 128 * (16384 + 100) / (312e12 / 108 * 0.764 * 0.985);
  const double memory = 2.0 * (2 * 1536.0 * 16384 + 1536.0 * 1536) / (0.827 * 2039e9);
  const double expected = std::pow(std::pow(compute, 3.2) + std::pow(memory, 3.2), 1 / 3.2) + 1.5e-6;
  // Splitting k by two makes 8/3 waves of half the depth, a better fit, and pays for it with the reduction.
  const double split_waves = 8.0 / 3 + 0.37 * (3 - 8.0 / 3);
  const double split_compute = split_waves * 2 * 128.0 * 128 * (8192 + 100) / (312e12 / 108 * 0.764 * 0.985);
  const double split_memory = memory + 8 * 1536.0 * 1536 * 2 * 0.76 / (0.827 * 2039e9);
  const double split = std::pow(std::pow(split_compute, 3.2) + std::pow(split_memory, 3.2), 1 / 3.2) + 3e-6;
  EXPECT_LT(split, expected);
  EXPECT_LE(tile_model_seconds(p, gemm), split * (1 + 1e-12));
  p.split_fixed = 1;  // no split pays
  EXPECT_NEAR(tile_model_seconds(p, gemm) / expected, 1, 1e-12);
}

TEST(GemmCost, DerateSlowsComputeAndNotTraffic) {
  cluster::Gpu slow = test::a100();
  slow.in_situ_derate = 0.76;
  const auto fast_cost = make_compute_cost(test::a100(), test::catalog());
  const auto slow_cost = make_compute_cost(slow, test::catalog());
  const Gemm square{1, 8192, 8192, 8192, DataType::bf16, 2, 2};
  EXPECT_NEAR(seconds(*slow_cost, square) / seconds(*fast_cost, square), 1 / 0.76, 0.02);
  const Gemm thin{1, 1, 16384, 16384, DataType::bf16, 2, 2};
  EXPECT_LT(seconds(*slow_cost, thin) / seconds(*fast_cost, thin), 1.06);
}

TEST(GemmCost, UnalignedRowsAreSlowAndUnalignedCountsAreNot) {
  const auto cost = make_compute_cost(test::a100(), test::catalog());
  const double aligned = seconds(*cost, {1, 4096, 4096, 4096, DataType::fp16, 2, 2});
  EXPECT_GT(seconds(*cost, {1, 4096, 4097, 4096, DataType::fp16, 2, 2}), 2 * aligned);
  EXPECT_GT(seconds(*cost, {1, 4096, 4096, 4095, DataType::fp16, 2, 2}), 2 * aligned);
  EXPECT_LT(seconds(*cost, {1, 4095, 4096, 4096, DataType::fp16, 2, 2}), 1.05 * aligned);
}

TEST(GemmCost, SaysWhatItRestsOn) {
  const auto a100 = make_compute_cost(test::a100(), test::catalog());
  const auto v100 = make_compute_cost(test::v100(), test::catalog());
  const Gemm gemm{1, 4096, 4096, 4096, DataType::fp16, 2, 2};
  EXPECT_EQ(a100->gemm(gemm).provenance, Provenance::fitted);
  EXPECT_EQ(v100->gemm(gemm).provenance, Provenance::roofline);
  EXPECT_NEAR(a100->gemm(gemm).relative_sigma, std::hypot(0.055, 0.03), 1e-9);
  EXPECT_NEAR(v100->gemm(gemm).relative_sigma, std::hypot(0.12, 0.10), 1e-9);
}

TEST(GemmCost, TypesWithoutUnitsRunOnVectorsExceptFp8) {
  const auto v100 = make_compute_cost(test::v100(), test::catalog());
  EXPECT_NEAR(tflops(*v100, 8192, 8192, 8192, DataType::bf16), 0.96 * 15.7, 0.5);
  EXPECT_NEAR(tflops(*v100, 8192, 8192, 8192, DataType::fp32), 0.96 * 15.7, 0.5);
  EXPECT_THROW(v100->gemm({1, 64, 64, 64, DataType::fp8, 1, 2}), InputError);
}

TEST(GemmCost, EmptyIsFreeAndNegativeIsRefused) {
  const auto cost = make_compute_cost(test::a100(), test::catalog());
  EXPECT_EQ(cost->gemm({1, 0, 64, 64, DataType::bf16, 2, 2}).time, Time::zero());
  EXPECT_THROW(cost->gemm({1, -1, 64, 64, DataType::bf16, 2, 2}), std::invalid_argument);
}

TEST(GemmCost, NeedsAPeak) {
  cluster::Gpu gpu = test::a100();
  gpu.peak.clear();
  EXPECT_THROW(make_compute_cost(gpu, test::catalog()), InputError);
  EXPECT_THROW(make_compute_cost(test::a100(), "/nowhere"), InputError);
}

/// Mean relative error over the fp16 GEMMs of microsoft/vidur with m >= 1024 in DIRECTORY/ops_gemm.csv.
double mean_error(const ComputeCost& cost, const std::string& gpu, const std::string& directory, int& count) {
  std::ifstream file(directory + "/ops_gemm.csv");
  std::string line;
  double sum = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    std::stringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (fields.size() < 10 || fields[1].find("vidur") == std::string::npos || fields[2] != gpu) continue;
    const Gemm gemm{std::stoll(fields[5]),
                    std::stoll(fields[6]),
                    std::stoll(fields[7]),
                    std::stoll(fields[8]),
                    DataType::fp16,
                    2,
                    2};
    if (gemm.m < 1024) continue;
    sum += std::abs(seconds(cost, gemm) * 1e6 / std::stod(fields[9]) - 1);
    ++count;
  }
  return sum / std::max(count, 1);
}

TEST(GemmCost, ReproducesTheMeasurementsItWasFittedOn) {
  const char* directory = std::getenv("PROTEUS_SHARED_DATA");
  if (directory == nullptr) GTEST_SKIP() << "PROTEUS_SHARED_DATA names no folder with ops_gemm.csv";
  int count = 0;
  EXPECT_LT(mean_error(*make_compute_cost(test::a100(), test::catalog()), "A100-SXM4-80GB", directory, count), 0.08);
  EXPECT_GT(count, 1000);
  count = 0;
  EXPECT_LT(mean_error(*make_compute_cost(test::h100(), test::catalog()), "H100-SXM5-80GB", directory, count), 0.10);
  EXPECT_GT(count, 500);
}

}  // namespace
}  // namespace proteus::cost
