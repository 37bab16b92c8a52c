// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job_builder.hpp"
#include "proteus/base/error.hpp"

namespace proteus::executor::testing {
namespace {

using B = JobBuilder;
using cost::Collective;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(const JobBuilder& b, const How& how = {}) {
  try {
    simulate(b, {}, how);
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "no error";
}

TEST(InnerCollective, GroupsOfTwoInAnIslandOfEight) {
  B b(8, 8);
  auto tp = b.family("tp", 0, {{2, 4}}, {{1, 2}});
  // 1 MB at 100 GB/s is 10 us, and 2 us of latency; all four groups have ports of their own.
  auto c = b.collective(tp, Collective::all_reduce, 1'000'000, Traffic::tensor, 2'000'000, 100e9, 0, 1);
  b.program({b.phase("f", {B::compute(1'000'000), B::communicate(c, Stream::tensor, {{Stream::compute, 1}}),
                           B::compute(1'000'000, {{Stream::tensor, 1}})})});
  b.finish();
  Outcome r = simulate(b);
  for (int d = 0; d < 8; ++d) {
    EXPECT_EQ(r.at(d, 1), (Row{1'000'000, 12'000'000}));
    EXPECT_EQ(r.at(d, 2).start, 13'000'000);
  }
  EXPECT_EQ(r.result.collectives, 4u);
}

TEST(InnerCollective, AllEight) {
  B b(8, 8);
  auto tp = b.family("tp", 0, {}, {{1, 8}});
  auto c = b.collective(tp, Collective::all_gather, 8'000'000, Traffic::tensor, 3'000'000, 200e9, 0, 0.875);
  b.program({b.phase("f", {B::communicate(c, Stream::tensor), B::compute(5, {{Stream::tensor, 1}})})});
  b.finish();
  Outcome r = simulate(b);
  for (int d = 0; d < 8; ++d) EXPECT_EQ(r.at(d, 0), (Row{0, 43'000'000}));
}

TEST(InnerCollective, TwoShareTheirPorts) {
  B b(2, 2);
  auto tp = b.family("tp", 0, {}, {{1, 2}});
  // Each alone at 200 of 300 GB/s: together 150 each. 6 MB take 40 us for both; then 1 us of latency.
  auto c = b.collective(tp, Collective::all_reduce, 6'000'000, Traffic::tensor, 1'000'000, 200e9, 0, 1);
  b.program({b.phase("f", {B::communicate(c, Stream::tensor), B::communicate(c, Stream::gradient)})});
  b.finish();
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 0), (Row{0, 41'000'000}));
  EXPECT_EQ(r.at(1, 1), (Row{0, 41'000'000}));
}

TEST(InnerCollective, OneThatJoinsLaterSlowsTheOther) {
  B b(2, 2);
  auto tp = b.family("tp", 0, {}, {{1, 2}});
  auto c = b.collective(tp, Collective::all_reduce, 6'000'000, Traffic::tensor, 1'000'000, 200e9, 0, 1);
  // Alone for 15 us (3 MB), then 3 MB at 150 GB/s: 20 us. The second has 3 MB left at 35 us: 15 us alone.
  b.program({b.phase("f", {B::communicate(c, Stream::tensor), B::compute(15'000'000),
                           B::communicate(c, Stream::gradient, {{Stream::compute, 1}})})});
  b.finish();
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 0), (Row{0, 36'000'000}));
  EXPECT_EQ(r.at(0, 2), (Row{15'000'000, 36'000'000}));
}

TEST(InnerCollective, TransferBesideComputeIsSlower) {
  B b(2, 2);
  b.job.comm_slowdown = 1.5;
  auto tp = b.family("tp", 0, {}, {{1, 2}});
  auto c = b.collective(tp, Collective::all_reduce, 2'000'000, Traffic::tensor, 1'000'000, 200e9, 0, 1);
  b.job.collectives[c].beside_compute = true;
  b.program({b.phase("f", {B::communicate(c, Stream::tensor)})});
  b.finish();
  EXPECT_EQ(simulate(b).at(0, 0), (Row{0, 16'000'000}));
}

/// Two stages of one device on two islands. 1 MB takes 40 us at 25 GB/s; latency 8 us.
struct Pipeline : B {
  Pipeline() : B(2, 1) {
    auto pair = family("pp 0>1", 0, {}, {{1, 2}});
    send = collective(pair, Collective::send_receive, 1'000'000, Traffic::pipeline, 8'000'000, 25e9, 1);
    stages(1, 2);
    auto first = phase("first", {compute(10'000'000), communicate(send, Stream::forward_send, {{Stream::compute, 1}})});
    auto second = phase(
        "second", {communicate(send, Stream::forward_receive), compute(20'000'000, {{Stream::forward_receive, 1}})});
    program({first, first});
    program({second, second});
    finish();
  }
  std::uint32_t send = 0;
};

TEST(SpanningCollective, PipelineOfTwoStages) {
  Pipeline b;
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 0), (Row{0, 10'000'000}));
  EXPECT_EQ(r.at(0, 1), (Row{10'000'000, 48'000'000}));
  EXPECT_EQ(r.at(1, 0), (Row{0, 58'000'000}));
  EXPECT_EQ(r.at(1, 1), (Row{58'000'000, 20'000'000}));
  // The second send waits for its stream.
  EXPECT_EQ(r.at(0, 2), (Row{10'000'000, 10'000'000}));
  EXPECT_EQ(r.at(0, 3), (Row{58'000'000, 48'000'000}));
  EXPECT_EQ(r.at(1, 3), (Row{106'000'000, 20'000'000}));
  EXPECT_EQ(r.result.iteration_end[0].ps(), 126'000'000);
  const Breakdown& last = r.result.classes[1].sum;
  auto pipeline = static_cast<std::size_t>(Traffic::pipeline);
  EXPECT_EQ(last.bubble.ps(), 10'000'000);
  EXPECT_EQ(last.exposed[pipeline].ps(), 48'000'000 + 28'000'000);
  EXPECT_EQ(last.compute.ps(), 40'000'000);
  EXPECT_EQ(total(last), 126'000'000);
  const Breakdown& first = r.result.classes[0].sum;
  EXPECT_EQ(first.idle.ps(), 106'000'000);
  EXPECT_EQ(total(first), 126'000'000);
}

TEST(SpanningCollective, RingOverFourIslands) {
  B b(8, 2);
  auto dp = b.family("dp", 0, {{1, 2}}, {{2, 4}});
  auto c = b.collective(dp, Collective::all_reduce, 10'000'000, Traffic::gradient, 20'000'000, 12.5e9, 1.5);
  b.program({b.phase("f", {B::compute(1'000'000), B::communicate(c, Stream::gradient, {{Stream::compute, 1}})})});
  b.finish();
  for (int ranks : {0, 3}) {
    Outcome r = simulate(b, {}, {ranks, {}, 0});
    for (int d = 0; d < 8; ++d) EXPECT_EQ(r.at(d, 1), (Row{1'000'000, 820'000'000}));
    EXPECT_EQ(r.result.collectives, 2u);
  }
}

TEST(SpanningCollective, SmallOnesAreLatencyOnly) {
  B b(2, 1);
  auto dp = b.family("dp", 0, {}, {{1, 2}});
  auto c = b.collective(dp, Collective::all_reduce, 100, Traffic::scalar, 8'000'000, 1e9, 1);
  b.program({b.phase("f", {B::communicate(c, Stream::gradient)})});
  b.finish();
  EXPECT_EQ(simulate(b).at(0, 0), (Row{0, 8'100'000}));
}

TEST(SpanningCollective, TwoFlowsShareOneNic) {
  // Two GPUs a node with one NIC between them, each sending to its peer on the other node.
  B b(4, 2);
  b.cluster.node.nics = 1;
  auto dp = b.family("pairs", 0, {{1, 2}}, {{2, 2}});
  auto c = b.collective(dp, Collective::send_receive, 1'000'000, Traffic::pipeline, 8'000'000, 25e9, 1);
  b.stages(2, 2);
  b.program({b.phase("s", {B::communicate(c, Stream::forward_send)})});
  b.program({b.phase("r", {B::communicate(c, Stream::forward_receive)})});
  b.finish();
  for (auto mode : {NetworkMode::max_min, NetworkMode::fair_share}) {
    Options options;
    options.network = mode;
    Outcome r = simulate(b, options);
    for (int d = 0; d < 4; ++d) EXPECT_EQ(r.at(d, 0), (Row{0, 88'000'000}));
  }
}

TEST(SpanningCollective, MembersThatCallDifferentCollectivesAreNamed) {
  B b(2, 1);
  auto dp = b.family("dp", 0, {}, {{1, 2}});
  auto reduce = b.collective(dp, Collective::all_reduce, 1000, Traffic::gradient, 8'000'000, 1e9, 1);
  auto gather = b.collective(dp, Collective::all_gather, 1000, Traffic::gradient, 8'000'000, 1e9, 1);
  b.stages(1, 2);
  b.program({b.phase("left", {B::communicate(reduce, Stream::gradient)})});
  b.program({b.phase("right", {B::communicate(gather, Stream::gradient)})});
  b.finish();
  EXPECT_THAT(error_of(b), AllOf(HasSubstr("'left.0' of 1000 B"), HasSubstr("'right.0' of 1000 B"),
                                 HasSubstr("device 1"), HasSubstr("dp #0")));
}

TEST(SpanningCollective, MissingMemberIsADeadlockThatNamesDevicesAndOps) {
  B b(2, 1);
  auto dp = b.family("dp", 0, {}, {{1, 2}});
  auto c = b.collective(dp, Collective::all_reduce, 1000, Traffic::gradient, 8'000'000, 1e9, 1);
  b.stages(1, 2);
  b.program({b.phase("left", {B::communicate(c, Stream::gradient), B::compute(5, {{Stream::gradient, 1}})})});
  b.program({b.phase("right", {B::compute(5)})});
  b.finish();
  for (int ranks : {0, 2}) {
    EXPECT_THAT(error_of(b, {ranks, {}, 0}),
                AllOf(HasSubstr("deadlock"), HasSubstr("device 0 gradient: 'left.0' (collective)"),
                      HasSubstr("waits for device 1"), HasSubstr("'left.1' (gemm)")));
  }
}

TEST(InnerCollective, MissingMemberIsADeadlock) {
  B b(2, 2);
  auto tp = b.family("tp", 0, {}, {{1, 2}});
  auto c = b.collective(tp, Collective::all_reduce, 1000, Traffic::tensor, 8'000'000, 1e9);
  b.stages(1, 2);
  b.program({b.phase("left", {B::communicate(c, Stream::tensor)})});
  b.program({b.phase("right", {B::compute(5)})});
  b.finish();
  EXPECT_THAT(error_of(b), AllOf(HasSubstr("deadlock"), HasSubstr("waits for device 1")));
}

TEST(SpanningCollective, NoPriceForAPlacement) {
  B b(2, 1);
  auto dp = b.family("dp", 0, {}, {{1, 2}});
  auto c = b.collective(dp, Collective::all_reduce, 1000, Traffic::gradient, 8'000'000, 1e9, 1);
  b.job.collectives[c].cost.clear();
  b.program({b.phase("f", {B::communicate(c, Stream::gradient)})});
  b.finish();
  EXPECT_THAT(error_of(b), HasSubstr("no collective has a price for dp #0: 2 members on 2 nodes"));
}

}  // namespace
}  // namespace proteus::executor::testing
