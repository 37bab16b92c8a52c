// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace proteus::graph {
namespace {

using cost::Collective;

/// Every kernel takes 1 us, every collective 10 us and 1 GB/s: these tests count, they do not time.
class FlatCompute final : public cost::ComputeCost {
 public:
  cost::Cost gemm(const cost::Gemm&) const override { return flat(); }
  cost::Cost attention(const cost::FusedAttention&) const override { return flat(); }
  cost::Cost memory_bound(cost::MemoryBoundKind, double) const override { return flat(); }

 private:
  static cost::Cost flat() { return {Time::microseconds(1), 0, cost::Provenance::roofline}; }
};

class FlatCommunication final : public cost::CommunicationCost {
 public:
  cost::CollectiveCost collective(Collective, Bytes, const cost::Placement&) const override {
    cost::CollectiveCost price;
    price.latency = Time::microseconds(10);
    price.bandwidth = {1e9};
    return price;
  }
};

class Compile : public testing::Test {
 protected:
  Compile() {
    model_.name = "small";
    model_.layers = 8;
    model_.hidden = 1024;
    model_.heads = model_.kv_heads = 16;
    model_.head_dim = 64;
    model_.ffn_hidden = 4096;
    model_.vocab = 51200;
    model_.seq_len = 2048;
    model_.attention = model::AttentionKernel::unfused;
    model_.dropout = true;
    cluster_.node.gpus = 8;
    cluster_.node.gpu.peak[DataType::bf16] = {1e14};
    runtime_.gradient_type = DataType::fp32;
    runtime_.state_bytes_per_parameter = 12;
    options_.tp = 8;
    options_.micro_batch = 2;
    options_.global_batch = 64;
  }

  Job compile(std::int64_t nodes) {
    cluster_.nodes = static_cast<int>(nodes);
    const strategy::Strategy strategy = strategy::megatron(options_, cluster_.devices(), model_.layers);
    return graph::compile({model_, cluster_, strategy, runtime_, compute_, communication_, 1});
  }

  /// Instances of each kind of collective with tensor traffic in one phase.
  static std::map<Collective, int> tensor_collectives(const Job& job, const std::string& phase) {
    std::map<Collective, int> counts;
    for (const Phase& candidate : job.phases) {
      if (candidate.name != phase) continue;
      for (const ProgramOp& op : candidate.ops) {
        if (!op.is_compute() && job.collectives[op.collective].traffic == Traffic::tensor &&
            job.collectives[op.collective].type == DataType::bf16) {
          ++counts[job.collectives[op.collective].kind];
        }
      }
      break;
    }
    return counts;
  }

  model::TransformerConfig model_;
  cluster::Cluster cluster_;
  strategy::Runtime runtime_;
  strategy::MegatronOptions options_;
  FlatCompute compute_;
  FlatCommunication communication_;
};

TEST_F(Compile, TensorParallelismReducesTwiceALayerEachWay) {
  const Job job = compile(1);
  // Forward: behind proj and fc2 of 8 layers, and behind the embedding. Backward: the inputs of qkv and fc1, and of the
  // head.
  EXPECT_EQ(tensor_collectives(job, "forward[0]"), (std::map<Collective, int>{{Collective::all_reduce, 2 * 8 + 1}}));
  EXPECT_EQ(tensor_collectives(job, "backward[0]"), (std::map<Collective, int>{{Collective::all_reduce, 2 * 8 + 1}}));
}

TEST_F(Compile, SequenceParallelismGathersAndScattersInstead) {
  options_.sequence_parallel = true;
  const Job job = compile(1);
  // Forward: gather before qkv, fc1 and the head; scatter behind proj, fc2 and the embedding.
  EXPECT_EQ(tensor_collectives(job, "forward[0]"),
            (std::map<Collective, int>{{Collective::all_gather, 2 * 8 + 1}, {Collective::reduce_scatter, 2 * 8 + 1}}));
  // Backward: the mirror images, and the saved inputs of qkv, fc1 and the head are gathered again.
  EXPECT_EQ(
      tensor_collectives(job, "backward[0]"),
      (std::map<Collective, int>{{Collective::all_gather, 2 * (2 * 8 + 1)}, {Collective::reduce_scatter, 2 * 8 + 1}}));
}

TEST_F(Compile, FullRecomputationRepeatsTheForwardCollectives) {
  options_.recompute = strategy::Recompute::full;
  EXPECT_EQ(tensor_collectives(compile(1), "backward[0]"),
            (std::map<Collective, int>{{Collective::all_reduce, 4 * 8 + 1}}));
}

TEST_F(Compile, SelectiveRecomputationRepeatsTheAttentionCoreOnly) {
  const auto count = [&](strategy::Recompute recompute) {
    options_.recompute = recompute;
    const Job job = compile(1);
    for (const Phase& phase : job.phases) {
      if (phase.name == "backward[0]") return phase.by_stream[0].size();
    }
    return std::size_t{0};
  };
  // Scores, softmax, dropout, context and its copy.
  EXPECT_EQ(count(strategy::Recompute::selective), count(strategy::Recompute::none) + 8 * 5);
}

TEST_F(Compile, ProgramsDoNotDependOnTheNumberOfReplicas) {
  options_.tp = 4;
  options_.pp = 2;
  options_.distributed_optimizer = true;
  const auto with = [&](std::int64_t nodes) {
    options_.global_batch = nodes * 16;
    return compile(nodes);
  };
  const Job few = with(2), many = with(256);
  EXPECT_EQ(few.programs.size(), 2u);
  EXPECT_EQ(many.programs.size(), 2u);
  EXPECT_EQ(program_bytes(few), program_bytes(many));
}

TEST_F(Compile, WaitsNeverPointForward) {
  options_.tp = 2;
  options_.pp = 4;
  options_.sequence_parallel = true;
  for (const Phase& phase : compile(1).phases) {
    std::map<Stream, int> issued;
    for (const ProgramOp& op : phase.ops) {
      for (int w = 0; w < op.wait_count; ++w) EXPECT_LE(op.waits[w].count, issued[op.waits[w].stream]) << phase.name;
      ++issued[op.stream];
    }
  }
}

/// Closed forms of Korthikanti et al. 2022 (arXiv:2205.05198), equations 2 to 5: bytes of a layer and micro-batch.
struct MemoryCase {
  bool sequence_parallel;
  strategy::Recompute recompute;
  double (*per_layer)(double sbh, double t, double scores);
};

class Memory : public Compile, public testing::WithParamInterface<MemoryCase> {};

TEST_P(Memory, OfAMiddleStageIsThePapersFormula) {
  options_.tp = 4;
  options_.pp = 4;
  options_.sequence_parallel = GetParam().sequence_parallel;
  options_.recompute = GetParam().recompute;
  const Job job = compile(2);
  const double elements = 2048.0 * 2 * 1024, ways = 4;
  const double score_bytes = 5.0 * 16 * 2048 / 1024;  // 5 a s / h
  // Two layers a stage, and three micro-batches alive on stage 1 of 4.
  const double expected = 2 * 3 * GetParam().per_layer(elements, ways, score_bytes);
  EXPECT_NEAR(static_cast<double>(job.memory[1].activations.value), expected, 0.01 * expected);
  const double held =
      static_cast<double>((job.memory[1].parameters + job.memory[1].gradients + job.memory[1].optimizer).value);
  EXPECT_NEAR(held, 18 * 2 * 12 * 1024.0 * 1024 / ways, 0.01 * held);  // 2 + 4 + 12 bytes a parameter
}

INSTANTIATE_TEST_SUITE_P(
    Korthikanti, Memory,
    testing::Values(MemoryCase{false, strategy::Recompute::none,
                               [](double sbh, double n, double scores) { return sbh * (10 + 24 / n + scores / n); }},
                    MemoryCase{true, strategy::Recompute::none,
                               [](double sbh, double n, double scores) { return sbh / n * (34 + scores); }},
                    MemoryCase{true, strategy::Recompute::selective,
                               [](double sbh, double n, double) { return sbh / n * 34; }},
                    MemoryCase{false, strategy::Recompute::full, [](double sbh, double, double) { return 2 * sbh; }}));

TEST_F(Compile, RefusesATypeThatTheGpuLacks) {
  cluster_.node.gpu.peak.clear();
  EXPECT_THROW(compile(1), InputError);
}

}  // namespace
}  // namespace proteus::graph
