// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace proteus::graph {
namespace {

using ::testing::ElementsAre;

ProgramOp compute(std::int64_t duration, std::uint32_t host = 1) {
  ProgramOp op;
  op.duration_ps = op.overlapped_ps = duration;
  op.host_ps = host;
  return op;
}

ProgramOp communicate(std::uint32_t collective, Stream stream, std::vector<Wait> waits) {
  ProgramOp op;
  op.collective = collective;
  op.stream = stream;
  op.host_ps = 2;
  op.wait_count = static_cast<std::uint8_t>(waits.size());
  std::copy(waits.begin(), waits.end(), op.waits.begin());
  return op;
}

/// Collective 0 stays in the island, 1 leaves it.

Phase example() {
  Phase phase;
  phase.name = "example";
  phase.ops = {
      communicate(1, Stream::forward_receive, {}),
      compute(10),
      compute(20),
      communicate(0, Stream::tensor, {{Stream::compute, 2}}),
      compute(30),
      communicate(1, Stream::gradient, {{Stream::tensor, 1}}),
      communicate(0, Stream::gradient, {}),
      communicate(1, Stream::forward_send, {{Stream::compute, 0}}),
  };
  phase.ops[3].host_sync = true;
  phase.finish();
  return phase;
}

TEST(Phase, StreamsAndHostTimes) {
  Phase phase = example();
  EXPECT_THAT(phase.by_stream[static_cast<int>(Stream::compute)], ElementsAre(1, 2, 4));
  EXPECT_THAT(phase.by_stream[static_cast<int>(Stream::gradient)], ElementsAre(5, 6));
  EXPECT_THAT(phase.host_before_ps, ElementsAre(2, 3, 4, 6, 7, 9, 11, 13));
  EXPECT_EQ(phase.host_ps, 13);
  EXPECT_THAT(phase.syncs_before, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(phase.syncs, 1);
  EXPECT_EQ(phase.compute_ps, 60);
  EXPECT_THAT(phase.compute_before_ps, ElementsAre(0, 10, 30, 60));
}

TEST(Phase, ComputeNeededFollowsChainsOfWaits) {
  // Nothing; own place in the compute stream; the wait; through the tensor stream; through its own stream; what was
  // issued before the phase.
  EXPECT_THAT(example().compute_needed, ElementsAre(-1, 0, 1, 2, 2, 2, 2, 0));
}

TEST(Phase, ProducersOfWaitsSignal) {
  Phase phase = example();
  EXPECT_FALSE(phase.ops[1].signals);
  EXPECT_TRUE(phase.ops[2].signals);
  EXPECT_FALSE(phase.ops[4].signals);
}

TEST(Phase, WaitForWhatIsIssuedLaterIsRefused) {
  Phase phase;
  phase.ops = {communicate(0, Stream::tensor, {{Stream::compute, 1}}), compute(5)};
  EXPECT_THROW(phase.finish(), std::logic_error);
}

TEST(Program, SumsOverSteps) {
  Phase silent;
  silent.ops = {compute(7, 3)};
  silent.finish();
  Program program;
  program.steps = {{1, 0}, {0, 0}, {1, 1}};
  program.finish({example(), silent});
  EXPECT_THAT(program.rows_before, ElementsAre(0, 1, 9, 10));
  EXPECT_EQ(program.rows(), 10);
  EXPECT_THAT(program.host_before_ps, ElementsAre(0, 3, 16, 19));
  EXPECT_THAT(program.syncs_before, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(program.syncs, ElementsAre(Program::Place{1, 3}));
  EXPECT_THAT(program.compute_before_ps, ElementsAre(0, 7, 67, 74));
  EXPECT_EQ(program.streams_before[2][static_cast<int>(Stream::compute)], 4);
  EXPECT_EQ(program.streams_before[3][static_cast<int>(Stream::gradient)], 2);
}

}  // namespace
}  // namespace proteus::graph
