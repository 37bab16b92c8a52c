// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/graph/compile_fixture.hpp"

namespace proteus::graph {
namespace {

constexpr double sbh = 2048.0 * 2 * 1024;               // elements of an activation of one micro-batch
constexpr double score_bytes = 5.0 * 16 * 2048 / 1024;  // 5 a s / h
constexpr double tensor_ways = 4;

/// Closed forms of Korthikanti et al. 2022 (arXiv:2205.05198), equations 2 to 5: bytes of a layer and micro-batch.
struct MemoryCase {
  bool sequence_parallel;
  strategy::Recompute recompute;
  double per_layer;
};

/// Four stages of two layers; 1F1B keeps 4 - r micro-batches alive on stage r.
class Memory : public Compile {
 protected:
  Memory() {
    options_.tp = 4;
    options_.pp = 4;
  }

  static double activations(const Job& job, std::size_t stage) {
    return static_cast<double>(job.memory[job.program_of_stage.at(stage)].activations.value);
  }

  static double states(const Job& job, std::size_t stage) {
    const MemoryPlan& plan = job.memory[job.program_of_stage.at(stage)];
    return static_cast<double>((plan.parameters + plan.gradients + plan.optimizer).value);
  }
};

class MiddleStage : public Memory, public testing::WithParamInterface<MemoryCase> {};

TEST_P(MiddleStage, IsThePapersFormula) {
  options_.sequence_parallel = GetParam().sequence_parallel;
  options_.recompute = GetParam().recompute;
  const Job job = compile(2);
  for (std::size_t stage : {1u, 2u}) {
    const double expected = 2 * (4.0 - static_cast<double>(stage)) * GetParam().per_layer;
    EXPECT_NEAR(activations(job, stage), expected, 0.01 * expected) << stage;
  }
}

INSTANTIATE_TEST_SUITE_P(Korthikanti, MiddleStage,
                         testing::Values(MemoryCase{false, strategy::Recompute::none,
                                                    sbh*(10 + 24 / tensor_ways + score_bytes / tensor_ways)},
                                         MemoryCase{true, strategy::Recompute::none,
                                                    sbh / tensor_ways*(34 + score_bytes)},
                                         MemoryCase{true, strategy::Recompute::selective, sbh / tensor_ways * 34},
                                         MemoryCase{false, strategy::Recompute::full, 2 * sbh}));

TEST_F(Memory, TheFirstStageKeepsTheDropoutMaskOfTheEmbedding) {
  options_.sequence_parallel = true;
  // s b h p / t (Korthikanti et al. 2022, section 4.3) beside p micro-batches of two layers.
  const double expected = 4 * sbh / tensor_ways * (2 * (34 + score_bytes) + 1);
  EXPECT_NEAR(activations(compile(2), 0), expected, 0.001 * expected);
}

TEST_F(Memory, TheLastStageKeepsTheLogits) {
  options_.sequence_parallel = true;
  // 4 s b h / t (1 + V / h): input of the last norm, input of the projection, logits in fp32 (section 4.3).
  const double expected = sbh / tensor_ways * (2 * (34 + score_bytes) + 4 * (1 + 51200.0 / 1024));
  EXPECT_NEAR(activations(compile(2), 3), expected, 0.001 * expected);
}

TEST_F(Memory, FlashAttentionKeepsNoScores) {
  options_.sequence_parallel = true;
  model_.attention = model::AttentionKernel::flash;
  // What selective recomputation saves, plus a log-sum-exp of four bytes for every row and head.
  const double expected = 2 * 3 * (sbh * 34 + 4.0 * 2048 * 2 * 16) / tensor_ways;
  EXPECT_NEAR(activations(compile(2), 1), expected, 0.01 * expected);
}

TEST_F(Memory, InterleavingKeepsTheWarmUpAndOneMoreChunk) {
  options_.pp = 2;
  options_.vpp = 2;
  options_.sequence_parallel = true;
  options_.recompute = strategy::Recompute::full;
  // A chunk keeps the input of both its layers, 2 s b h / t each, and chunk 0 the mask of the embedding. Stage 0 runs
  // F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 (micro-batch.chunk): warm-up 2 (p - r - 1) + (v - 1) p = 4 and one more make 5
  // chunks alive, and behind F3.0 four of them are chunk 0.
  const double expected = sbh / tensor_ways * (5 * 2 * 2 + 4);
  EXPECT_NEAR(activations(compile(1), 0), expected, 0.001 * expected);
}

TEST_F(Memory, StatesTakeEighteenBytesAParameter) {
  // 2 for the weight, 4 for its fp32 gradient, 12 for master weight and moments. Two layers of 12 h^2 / t elements.
  const double matrices = 2 * 12 * 1024.0 * 1024 / tensor_ways;
  const double replicated = 1.01;  // norms and biases
  const double held = states(compile(2), 1);
  EXPECT_GE(held, 18 * matrices);
  EXPECT_LE(held, 18 * matrices * replicated);
}

TEST_F(Memory, ADistributedOptimizerSharesTheTwelveBytes) {
  const double whole = states(compile(8), 1);
  options_.distributed_optimizer = true;
  // 64 devices are 4 replicas: 6 + 12 / 4 bytes instead of 18 (megatron/training/theoretical_memory_usage.py).
  EXPECT_NEAR(states(compile(8), 1), whole * 9 / 18, 0.001 * whole);
}

TEST_F(Memory, ReturnsToWhereItBegan) {
  for (const MemoryPlan& plan : compile(2).memory) {
    const Bytes fixed = plan.parameters + plan.gradients + plan.optimizer + plan.communication + plan.context;
    EXPECT_EQ(plan.after_step.back(), fixed.value);
    EXPECT_EQ(plan.peak, fixed + plan.activations + plan.temporaries);
    EXPECT_GT(plan.activations.value, 0);
  }
}

}  // namespace
}  // namespace proteus::graph
