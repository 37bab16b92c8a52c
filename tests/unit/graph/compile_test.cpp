// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "unit/graph/compile_fixture.hpp"

namespace proteus::graph {
namespace {

using cost::Collective;
using Counts = std::map<Collective, int>;

TEST_F(Compile, TensorParallelismReducesTwiceALayerEachWay) {
  const Job job = compile(1);
  // Forward: behind proj and fc2 of 8 layers, and behind the embedding. Backward: the inputs of qkv and fc1, and of the
  // head.
  for (const char* name : {"forward[0]", "backward[0]"}) {
    EXPECT_EQ(count(job, phase_of(job, 0, name), Traffic::tensor), (Counts{{Collective::all_reduce, 2 * 8 + 1}}));
  }
}

TEST_F(Compile, TensorAllReducesCarryTheWholeActivation) {
  const Job job = compile(1);
  // s b h elements of two bytes (Shoeybi et al. 2019, section 3), on one replica.
  const std::int64_t activation = 2048 * 2 * 1024 * 2;
  EXPECT_EQ(sizes(job, phase_of(job, 0, "forward[0]"), Traffic::tensor, DataType::bf16),
            (std::map<std::int64_t, int>{{activation, 17}}));
  // The vocabulary-parallel cross-entropy: maximum, predicted logit and sum of exponentials, s b fp32 numbers each.
  EXPECT_EQ(sizes(job, phase_of(job, 0, "forward[0]"), Traffic::tensor, DataType::fp32),
            (std::map<std::int64_t, int>{{2048 * 2 * 4, 3}}));
}

TEST_F(Compile, SequenceParallelismGathersAndScattersInstead) {
  options_.sequence_parallel = true;
  const Job job = compile(1);
  // Forward: gather before qkv, fc1 and the head; scatter behind proj, fc2 and the embedding.
  EXPECT_EQ(count(job, phase_of(job, 0, "forward[0]"), Traffic::tensor),
            (Counts{{Collective::all_gather, 2 * 8 + 1}, {Collective::reduce_scatter, 2 * 8 + 1}}));
  // Backward: the mirror images, and the saved inputs of qkv, fc1 and the head are gathered again.
  EXPECT_EQ(count(job, phase_of(job, 0, "backward[0]"), Traffic::tensor),
            (Counts{{Collective::all_gather, 2 * (2 * 8 + 1)}, {Collective::reduce_scatter, 2 * 8 + 1}}));
}

TEST_F(Compile, SequenceParallelNormsAndBiasesAreReducedOnceForAll) {
  options_.sequence_parallel = true;
  const Job job = compile(1);
  // A layer: two norms of 2 h, and the biases of both row-parallel linears; then the last norm. fp32 gradients.
  // One replica, so that nothing else is gradient traffic.
  EXPECT_EQ(sizes(job, phase_of(job, 0, "epilogue"), Traffic::gradient, DataType::fp32),
            (std::map<std::int64_t, int>{{(8 * 6 + 2) * 1024 * 4, 1}}));
}

TEST_F(Compile, FullRecomputationRepeatsTheForwardCollectives) {
  options_.recompute = strategy::Recompute::full;
  const Job job = compile(1);
  EXPECT_EQ(count(job, phase_of(job, 0, "backward[0]"), Traffic::tensor),
            (Counts{{Collective::all_reduce, 4 * 8 + 1}}));
}

TEST_F(Compile, SelectiveRecomputationRepeatsTheAttentionCoreOnly) {
  const auto kernels = [&](strategy::Recompute recompute) {
    options_.recompute = recompute;
    const Job job = compile(1);
    return phase_of(job, 0, "backward[0]").by_stream[0].size();
  };
  // Scores, softmax, dropout, context and its copy.
  EXPECT_EQ(kernels(strategy::Recompute::selective), kernels(strategy::Recompute::none) + 8 * 5);
}

TEST_F(Compile, GradientsAreReducedOncePerIteration) {
  options_.tp = 2;
  const Job job = compile(1);
  // Everything that a tensor rank holds, in one fp32 buffer: half of the matrices, of the table and of the biases of
  // column-parallel linears (3 h + 4 h); whole norms, other biases and the position table.
  const std::int64_t h = 1024, held = 8 * (12 * h * h / 2 + 7 * h / 2 + 6 * h) + 2 * h + 51200 * h / 2 + 2048 * h;
  EXPECT_EQ(sizes(job, phase_of(job, 0, "epilogue"), Traffic::gradient, DataType::fp32),
            (std::map<std::int64_t, int>{{4 * held, 1}}));
  EXPECT_TRUE(count(job, phase_of(job, 0, "backward[0]"), Traffic::gradient, DataType::fp32).empty());

  options_.distributed_optimizer = true;
  const Job sharded = compile(1);
  const Phase& epilogue = phase_of(sharded, 0, "epilogue");
  EXPECT_EQ(count(sharded, epilogue, Traffic::gradient, DataType::fp32), (Counts{{Collective::reduce_scatter, 1}}));
  EXPECT_EQ(count(sharded, epilogue, Traffic::parameter), (Counts{{Collective::all_gather, 1}}));
  EXPECT_EQ(sizes(sharded, epilogue, Traffic::parameter, DataType::bf16), (std::map<std::int64_t, int>{{2 * held, 1}}));
}

TEST_F(Compile, OverlappedGradientsGoOutWithTheLastMicroBatchOnly) {
  options_.tp = 2;
  options_.overlap_grad_reduce = true;
  const Job job = compile(1);
  EXPECT_EQ(count(job, phase_of(job, 0, "backward.last[0]"), Traffic::gradient, DataType::fp32),
            (Counts{{Collective::all_reduce, 1}}));
  EXPECT_TRUE(count(job, phase_of(job, 0, "backward[0]"), Traffic::gradient, DataType::fp32).empty());
  EXPECT_TRUE(count(job, phase_of(job, 0, "epilogue"), Traffic::gradient, DataType::fp32).empty());
  const auto& steps = job.programs[0].steps;
  EXPECT_EQ(std::count_if(steps.begin(), steps.end(),
                          [&](const Step& step) { return job.phases[step.phase].name == "backward.last[0]"; }),
            1);
}

TEST_F(Compile, TiedTablesAreSummedBetweenTheFirstAndTheLastStage) {
  options_.tp = 2;
  options_.pp = 4;
  const Job job = compile(1);
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    const bool owns = stage == 0 || stage == 3;
    const auto expected = owns ? std::map<std::int64_t, int>{{51200 / 2 * 1024 * 4, 1}} : std::map<std::int64_t, int>{};
    EXPECT_EQ(sizes(job, phase_of(job, stage, "epilogue"), Traffic::embedding, DataType::fp32), expected) << stage;
  }
}

TEST_F(Compile, StagesExchangeOneActivationEachWay) {
  options_.tp = 2;
  options_.pp = 4;
  for (bool sequence_parallel : {false, true}) {
    options_.sequence_parallel = sequence_parallel;
    const Job job = compile(1);
    const std::int64_t bytes = 2048 * 2 * 1024 * 2 / (sequence_parallel ? 2 : 1);
    for (std::int64_t stage = 0; stage < 4; ++stage) {
      // One receive, except where nothing comes from, and one send, except where nothing goes to.
      const int neighbours = stage == 0 || stage == 3 ? 1 : 2;
      for (const char* name : {"forward[0]", "backward[0]"}) {
        EXPECT_EQ(sizes(job, phase_of(job, stage, name), Traffic::pipeline, DataType::bf16),
                  (std::map<std::int64_t, int>{{bytes, neighbours}}));
      }
    }
  }
}

/// Whether the first kernel of a phase waits for all that was sent before the phase.
bool waits_for_sends(const Phase& phase) {
  const ProgramOp& first = phase.ops[phase.by_stream[0].front()];
  std::set<Stream> streams;
  for (std::size_t w = 0; w < first.wait_count; ++w) {
    if (first.waits[w].count == 0) streams.insert(first.waits[w].stream);
  }
  return streams.contains(Stream::forward_send) && streams.contains(Stream::backward_send);
}

TEST_F(Compile, SynchronousExchangesHoldBackComputeUntilBothSendsAreOver) {
  options_.tp = 2;
  options_.pp = 4;
  const Job asynchronous = compile(1);
  wait_for_exchanges();
  const Job synchronous = compile(1);
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    for (const char* name : {"forward[0]", "backward[0]"}) {
      EXPECT_TRUE(waits_for_sends(phase_of(synchronous, stage, name))) << stage << name;
      EXPECT_FALSE(waits_for_sends(phase_of(asynchronous, stage, name))) << stage << name;
    }
  }
}

// Megatron's interleaved schedule sends and receives for both directions at once, behind each pair of forward and
// backward (forward_backward_pipelining_with_interleaving): a stage that waited in the middle of a pair would wait for
// a neighbour that waits for it.
TEST_F(Compile, SynchronousExchangesOfAnInterleavedScheduleStandBehindPairs) {
  options_.tp = 2;
  options_.pp = 2;
  options_.vpp = 2;
  options_.global_batch = 32;  // eight micro-batches, so that there are pairs
  wait_for_exchanges();
  const Job job = compile(1);
  for (std::int64_t stage = 0; stage < 2; ++stage) {
    for (const char* chunk : {"[0]", "[1]"}) {
      const Phase& paired = phase_of(job, stage, std::string("backward.paired") + chunk);
      EXPECT_FALSE(waits_for_sends(paired));
      for (const ProgramOp& op : paired.ops) {
        if (op.stream == Stream::backward_receive) {
          EXPECT_EQ(op.wait_count, 0);
        }
      }
      EXPECT_TRUE(waits_for_sends(phase_of(job, stage, std::string("forward") + chunk)));
    }
    EXPECT_TRUE(waits_for_sends(phase_of(job, stage, "backward[0]")));  // when the forwards are over
  }
}

TEST_F(Compile, AModelWithoutDropoutAndBiasFitsASequenceParallelPipeline) {
  // The last op of a layer has no backward kernel then, and the first kernel of backward waits for four streams: both
  // sends, the receive, and the gathering of what was received.
  model_.dropout = false;
  model_.bias = false;
  options_.tp = 2;
  options_.pp = 4;
  options_.sequence_parallel = true;
  wait_for_exchanges();
  const Job job = compile(1);
  const Phase& backward = phase_of(job, 1, "backward[0]");
  const ProgramOp& first = backward.ops[backward.by_stream[0].front()];
  std::set<Stream> streams;
  for (std::size_t w = 0; w < first.wait_count; ++w) streams.insert(first.waits[w].stream);
  EXPECT_EQ(streams, (std::set{Stream::tensor, Stream::forward_send, Stream::backward_send, Stream::backward_receive}));
}

TEST_F(Compile, OneDeviceNeedsNoCollective) {
  cluster_.node.gpus = 1;
  options_.tp = 1;
  const Job job = compile(1);
  EXPECT_TRUE(job.collectives.empty());
  EXPECT_EQ(job.memory.at(0).communication.value, 0);
  EXPECT_EQ(job.programs.size(), 1u);
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
      for (std::size_t w = 0; w < op.wait_count; ++w) {
        EXPECT_LE(op.waits[w].count, issued[op.waits[w].stream]) << phase.name;
      }
      ++issued[op.stream];
    }
  }
}

TEST_F(Compile, RefusesATypeThatTheGpuLacks) {
  cluster_.node.gpu.peak.clear();
  EXPECT_THROW(compile(1), InputError);
}

}  // namespace
}  // namespace proteus::graph
