// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "attention_model.hpp"
#include "proteus/cost/compute_cost.hpp"
#include "test_hardware.hpp"

namespace proteus::cost {
namespace {

// The setting of the benchmark figures: 16k tokens, heads x head_dim = 2048.
FusedAttention benchmark(std::int64_t length, std::int64_t head_dim, bool causal) {
  const std::int64_t heads = 2048 / head_dim;
  return {16384 / length, heads, heads, length, length, head_dim, causal, false, DataType::fp16};
}

double seconds(const ComputeCost& cost, FusedAttention call, bool backward) {
  call.backward = backward;
  return cost.attention(call).time.to_seconds();
}

double joint_tflops(const ComputeCost& cost, const FusedAttention& call) {
  const double forward = attention_flops(call);
  return 3.5e-12 * forward / (seconds(cost, call, false) + seconds(cost, call, true));
}

struct Point {
  std::int64_t length;
  std::int64_t head_dim;
  bool causal;
  double tflops;
};

TEST(AttentionCost, ReturnsTheBarsOfFlashAttention2OnA100) {
  const auto cost = make_compute_cost(test::a100(), test::catalog());
  for (const Point& p : std::vector<Point>{{512, 64, false, 132},
                                           {2048, 64, true, 140},
                                           {16384, 64, false, 176},
                                           {512, 128, true, 99},
                                           {4096, 128, false, 196},
                                           {16384, 128, true, 189}}) {
    EXPECT_NEAR(joint_tflops(*cost, benchmark(p.length, p.head_dim, p.causal)) / p.tflops, 1, 0.005) << p.length;
  }
}

TEST(AttentionCost, ReturnsTheForwardBarsOfFlashAttention3OnH100) {
  const auto cost = make_compute_cost(test::h100(), test::catalog());
  for (const Point& p : std::vector<Point>{
           {512, 64, false, 333}, {4096, 128, true, 579}, {16384, 128, false, 648}, {8192, 256, false, 746}}) {
    const FusedAttention call = benchmark(p.length, p.head_dim, p.causal);
    EXPECT_NEAR(1e-12 * attention_flops(call) / seconds(*cost, call, false) / p.tflops, 1, 0.005) << p.length;
  }
}

TEST(AttentionCost, BackwardIsTwoAndAHalfTimesTheWorkAtItsOwnRate) {
  const auto a100 = make_compute_cost(test::a100(), test::catalog());
  const auto h100 = make_compute_cost(test::h100(), test::catalog());
  const FusedAttention call = benchmark(4096, 128, true);
  EXPECT_NEAR(seconds(*a100, call, true) / seconds(*a100, call, false), 2.5 / 0.863, 0.01);
  EXPECT_NEAR(seconds(*h100, call, true) / seconds(*h100, call, false), 2.5 / 0.78, 0.01);
}

TEST(AttentionCost, InterpolatesBetweenLengthsAndHeadSizesAndClampsBeyond) {
  const auto cost = make_compute_cost(test::a100(), test::catalog());
  const double at_3k = joint_tflops(*cost, {8, 16, 16, 3072, 3072, 128, true, false, DataType::fp16});
  EXPECT_GT(at_3k, 155);
  EXPECT_LT(at_3k, 173);
  const double at_96 = joint_tflops(*cost, {8, 16, 16, 2048, 2048, 96, false, false, DataType::fp16});
  EXPECT_GT(at_96, 162);
  EXPECT_LT(at_96, 187);
  EXPECT_NEAR(joint_tflops(*cost, {1, 16, 16, 65536, 65536, 128, true, false, DataType::fp16}), 189, 1);
}

TEST(AttentionCost, AGridThatLeavesMultiprocessorsIdleIsSlower) {
  const auto cost = make_compute_cost(test::a100(), test::catalog());
  // One head of 2048 rows has 16 tiles for 108 multiprocessors; 27 heads fill them four times over.
  const double one = seconds(*cost, {1, 1, 1, 2048, 2048, 128, true, false, DataType::fp16}, false);
  const double many = seconds(*cost, {1, 27, 27, 2048, 2048, 128, true, false, DataType::fp16}, false);
  EXPECT_NEAR(many / one, 27 * 16 / 108.0, 0.1);
}

TEST(AttentionCost, GroupedQueriesCostTheSameCompute) {
  const auto cost = make_compute_cost(test::a100(), test::catalog());
  const FusedAttention full{4, 32, 32, 4096, 4096, 128, true, false, DataType::bf16};
  FusedAttention grouped = full;
  grouped.kv_heads = 8;
  EXPECT_EQ(cost->attention(full).time, cost->attention(grouped).time);
  EXPECT_LT(attention_bytes(grouped), attention_bytes(full));
}

TEST(AttentionCost, UnmeasuredGpusAreScaledByPeakAndSaySo) {
  const auto a100 = make_compute_cost(test::a100(), test::catalog());
  const auto v100 = make_compute_cost(test::v100(), test::catalog());
  const FusedAttention call = benchmark(4096, 128, false);
  EXPECT_NEAR(seconds(*v100, call, false) / seconds(*a100, call, false), 312 / 125.3, 0.01);
  EXPECT_EQ(v100->attention(call).provenance, Provenance::roofline);
  EXPECT_EQ(a100->attention(call).provenance, Provenance::fitted);
}

TEST(AttentionCost, DerateAndFloorHold) {
  cluster::Gpu slow = test::h100();
  slow.in_situ_derate = 0.76;
  const auto isolated = make_compute_cost(test::h100(), test::catalog());
  const auto in_situ = make_compute_cost(slow, test::catalog());
  const FusedAttention call = benchmark(8192, 128, true);
  EXPECT_NEAR(seconds(*isolated, call, true) / seconds(*in_situ, call, true), 0.76, 1e-6);
  const FusedAttention tiny{1, 1, 1, 16, 16, 64, true, false, DataType::bf16};
  EXPECT_EQ(isolated->attention(tiny).time, test::h100().kernel_floor);
}

}  // namespace
}  // namespace proteus::cost
