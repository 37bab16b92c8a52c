// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "job_builder.hpp"
#include "proteus/base/error.hpp"

namespace proteus::executor::testing {
namespace {

using B = JobBuilder;

TEST(Device, RunsComputeOpsBackToBack) {
  B b(1, 1);
  b.program({b.phase("forward", {B::compute(10), B::compute(20)}), b.phase("backward", {B::compute(5)})});
  b.job.iterations = 2;
  b.finish();
  Outcome r = simulate(b);
  ASSERT_EQ(r.rows.size(), 6u);
  EXPECT_EQ(r.at(0, 0), (Row{0, 10}));
  EXPECT_EQ(r.at(0, 1), (Row{10, 20}));
  EXPECT_EQ(r.at(0, 2), (Row{30, 5}));
  EXPECT_EQ(r.at(0, 3), (Row{35, 10}));
  EXPECT_EQ(r.at(0, 5), (Row{65, 5}));
  EXPECT_EQ(r.result.rows, 6u);
  EXPECT_EQ(r.result.iteration_end[0].ps(), 35);
  EXPECT_EQ(r.result.iteration_end[1].ps(), 70);
  EXPECT_EQ(r.result.classes[0].sum.compute.ps(), 35);
  EXPECT_EQ(total(r.result.classes[0].sum), 35);
}

TEST(Device, WaitsForTheHost) {
  B b(1, 1);
  // Issued at 8, 16 and 40: the second op ends at 18, long before the third is there.
  b.program({b.phase("forward", {B::compute(5, {}, 0, 8), B::compute(2, {}, 0, 8), B::compute(7, {}, 0, 24)})});
  b.finish();
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 0), (Row{8, 5}));
  EXPECT_EQ(r.at(0, 1), (Row{16, 2}));
  EXPECT_EQ(r.at(0, 2), (Row{40, 7}));
  const Breakdown& sum = r.result.classes[0].sum;
  EXPECT_EQ(sum.compute.ps(), 14);
  EXPECT_EQ(sum.host.ps(), 33);
  EXPECT_EQ(total(sum), r.result.iteration_end[0].ps());
}

TEST(Device, HostStopsAtASynchronizingOp) {
  B b(1, 1);
  // The first op ends at 1 + 100; only then are the others issued.
  b.program({b.phase("forward",
                     {B::synchronizing(B::compute(100, {}, 0, 1)), B::compute(1, {}, 0, 5), B::compute(1, {}, 0, 5)})});
  b.finish();
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 0), (Row{1, 100}));
  EXPECT_EQ(r.at(0, 1), (Row{106, 1}));
  EXPECT_EQ(r.at(0, 2), (Row{111, 1}));
}

/// Two devices of one island and an all-reduce of 300 bytes: latency 100 ps, then 300 ps.
struct Pair : B {
  Pair() : B(2, 2) { tp = family("tp", 0, {}, {{1, 2}}); }
  std::uint32_t all_reduce(Traffic traffic = Traffic::tensor) {
    return collective(tp, cost::Collective::all_reduce, 300, traffic, 100, 1e12, 0, 0);
  }
  std::uint32_t tp = 0;
};

TEST(Device, CommunicationWaitsForItsProducerAndHoldsUpItsConsumer) {
  Pair b;
  auto c = b.all_reduce();
  b.program(
      {b.phase("forward", {B::compute(50), B::compute(30), B::communicate(c, Stream::tensor, {{Stream::compute, 1}}),
                           B::compute(10, {{Stream::tensor, 1}})})});
  b.finish();
  Outcome r = simulate(b);
  for (int d : {0, 1}) {
    EXPECT_EQ(r.at(d, 2), (Row{50, 400}));
    EXPECT_EQ(r.at(d, 1), (Row{50, 30}));
    EXPECT_EQ(r.at(d, 3), (Row{450, 10}));
  }
  EXPECT_EQ(r.result.collectives, 1u);
  const Breakdown& sum = r.result.classes[0].sum;
  EXPECT_EQ(sum.compute.ps(), 2 * 90);
  EXPECT_EQ(sum.exposed[static_cast<std::size_t>(Traffic::tensor)].ps(), 2 * 370);
  EXPECT_EQ(total(sum), 2 * 460);
}

TEST(Device, ComputeBesideCommunicationIsSlowerAndRetimed) {
  Pair b;
  auto c = b.all_reduce();
  // The all-reduce is there from 50 to 450. The second op, 600 ps alone and 900 beside it, starts at 50: by 450 it has
  // done ceil(400 * 600 / 900) = 267 ps of its work (333 or 334 left, rounded up), and goes on at full speed.
  b.program({b.phase("forward", {B::compute(50), B::communicate(c, Stream::tensor, {{Stream::compute, 1}}),
                                 B::compute(600, {}, 900), B::compute(10, {}, 30)})});
  b.finish();
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 1), (Row{50, 400}));
  EXPECT_EQ(r.at(0, 2), (Row{50, 400 + 334}));
  EXPECT_EQ(r.at(0, 3), (Row{784, 10}));
}

TEST(Device, SpeedChangesWithinARunOfOps) {
  Pair b;
  auto c = b.all_reduce();
  // Device-to-device launch at host time 120: ops 0 and 1 (to 110) are untouched; op 2 has 10 of 30 done by 120, the
  // rest takes 20 * 90 / 30 = 60.
  b.program({b.phase("forward", {B::compute(100), B::compute(10), B::compute(30, {}, 90), B::compute(7, {}, 21),
                                 B::communicate(c, Stream::tensor, {}, 120)})});
  b.finish();
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 4), (Row{120, 400}));
  EXPECT_EQ(r.at(0, 2), (Row{110, 70}));
  EXPECT_EQ(r.at(0, 3), (Row{180, 21}));
}

TEST(Device, ScalarsDoNotSlowCompute) {
  Pair b;
  auto c = b.all_reduce(Traffic::scalar);
  b.program({b.phase("forward", {B::communicate(c, Stream::gradient), B::compute(30, {}, 90)})});
  b.finish();
  EXPECT_EQ(simulate(b).at(0, 1), (Row{0, 30}));
}

TEST(Device, HostWaitsForASynchronizingCollective) {
  Pair b;
  auto c = b.all_reduce(Traffic::gradient);
  b.program({b.phase(
      "forward", {B::compute(50), B::synchronizing(B::communicate(c, Stream::gradient)), B::compute(10, {}, 0, 5)})});
  b.finish();
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 1), (Row{0, 400}));
  EXPECT_EQ(r.at(0, 2), (Row{405, 10}));
  const Breakdown& sum = r.result.classes[0].sum;
  EXPECT_EQ(sum.exposed[static_cast<std::size_t>(Traffic::gradient)].ps(), 2 * 350);
  EXPECT_EQ(sum.host.ps(), 2 * 5);
  EXPECT_EQ(total(sum), 2 * 415);
}

TEST(Device, LateMembersAreSkew) {
  Pair b;
  auto c = b.all_reduce();
  b.stages(1, 2);
  auto tail = [&](const char* name, std::int64_t first) {
    return b.phase(name, {B::compute(first), B::communicate(c, Stream::tensor, {{Stream::compute, 1}}),
                          B::compute(10, {{Stream::tensor, 1}})});
  };
  b.program({tail("fast", 100)});
  b.program({tail("slow", 1000)});
  b.finish();
  Outcome r = simulate(b);
  EXPECT_EQ(r.at(0, 1), (Row{100, 1300}));
  EXPECT_EQ(r.at(1, 1), (Row{1000, 400}));
  const Breakdown& fast = r.result.classes[0].sum;
  EXPECT_EQ(fast.skew.ps(), 900);
  EXPECT_EQ(fast.exposed[static_cast<std::size_t>(Traffic::tensor)].ps(), 400);
  EXPECT_EQ(total(fast), 1410);
}

TEST(Device, TimeBehindOthersOnTheStreamIsTheirs) {
  Pair b;
  auto reduce = b.all_reduce(Traffic::gradient);
  auto norm = b.all_reduce(Traffic::scalar);
  // 400 ps each, one behind the other: compute waits for the third, which waits for two of the same kind.
  b.program({b.phase("f", {B::compute(10), B::communicate(reduce, Stream::gradient, {{Stream::compute, 1}}),
                           B::communicate(reduce, Stream::gradient), B::communicate(norm, Stream::gradient),
                           B::compute(5, {{Stream::gradient, 3}})})});
  b.finish();
  const Breakdown sum = simulate(b).result.classes[0].sum;
  EXPECT_EQ(sum.exposed[static_cast<std::size_t>(Traffic::gradient)].ps(), 2 * 800);
  EXPECT_EQ(sum.exposed[static_cast<std::size_t>(Traffic::scalar)].ps(), 2 * 400);
  EXPECT_EQ(sum.skew.ps(), 0);
  EXPECT_EQ(total(sum), 2 * 1215);
}

TEST(Device, DelaysMakeOneOpLonger) {
  B b(2, 2);
  b.program({b.phase("forward", {B::compute(10), B::compute(20)})});
  b.finish();
  Options options;
  options.delays = {{1, 0, Time::picoseconds(1)}};
  Outcome plain = simulate(b);
  Outcome delayed = simulate(b, options);
  EXPECT_EQ(delayed.at(0, 1), (Row{10, 20}));
  EXPECT_EQ(delayed.at(1, 0), (Row{0, 11}));
  EXPECT_EQ(delayed.at(1, 1), (Row{11, 20}));
  EXPECT_NE(plain.result.hash, delayed.result.hash);
}

TEST(Device, JitterIsBoundedAndUnbiased) {
  B b(1, 1);
  b.program({b.phase("forward", std::vector<graph::ProgramOp>(4000, B::compute(1'000'000)))});
  b.finish();
  Options options;
  options.compute_jitter = 0.1;
  options.seed = 7;
  Outcome r = simulate(b, options);
  double sum = 0;
  double squares = 0;
  for (const auto& [key, row] : r.rows) {
    double factor = static_cast<double>(row.duration) / 1e6;
    ASSERT_GE(factor, 0.7);
    ASSERT_LE(factor, 1.3 + 1e-6);
    sum += factor;
    squares += (factor - 1) * (factor - 1);
  }
  EXPECT_NEAR(sum / 4000, 1, 0.005);
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.1, 0.005);
  options.seed = 8;
  EXPECT_NE(simulate(b, options).result.hash, r.result.hash);
}

TEST(Device, RefusesOpsThatAreFasterBesideCommunication) {
  B b(1, 1);
  graph::ProgramOp op = B::compute(10);
  op.overlapped_ps = 9;
  b.program({b.phase("forward", {op})});
  b.finish();
  EXPECT_THROW(simulate(b), SimulationError);
}

}  // namespace
}  // namespace proteus::executor::testing
