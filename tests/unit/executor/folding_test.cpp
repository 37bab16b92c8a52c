// SPDX-License-Identifier: Apache-2.0
#include "proteus/executor/folding.hpp"

#include <gtest/gtest.h>

#include "proteus/base/error.hpp"
#include "random_job.hpp"

namespace proteus::executor::testing {
namespace {

class RandomFolding : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomFolding, ExactGivesWhatTheWholeJobDoes) {
  const JobBuilder b = RandomJob(GetParam()).take();
  Options options;
  options.network = GetParam() % 3 == 0 ? NetworkMode::fair_share : NetworkMode::max_min;
  if (GetParam() % 4 == 1) options.delays = {{b.job.devices - 1, 0, Time::microseconds(3)}};
  const Outcome whole = simulate(b, options);
  for (int ranks : {0, 1, 3}) {
    const Outcome folded = simulate(b, options, {ranks, {}, 0, FoldMode::exact});
    EXPECT_EQ(folded.result.hash, whole.result.hash) << ranks;
    EXPECT_TRUE(folded.rows == whole.rows);
    EXPECT_EQ(pack(folded.result), pack(whole.result));
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, RandomFolding, ::testing::Range(0u, 200u));

/// Nodes of two devices that compute, then reduce with all devices of their number.
JobBuilder replicas(int nodes, const cluster::Fabric& fabric = {}) {
  JobBuilder b(2 * nodes, 2);
  b.cluster.fabric = fabric;
  const auto family = b.family("dp", 0, {{1, 2}}, {{2, nodes}});
  const auto reduce =
      b.collective(family, cost::Collective::all_reduce, 1 << 20, Traffic::gradient, 8'000'000, 20e9, 2);
  const auto phase = b.phase("step", {JobBuilder::compute(5'000'000),
                                      JobBuilder::communicate(reduce, Stream::gradient, {{Stream::compute, 1}})});
  b.program({phase, phase});
  b.finish();
  return b;
}

Folding fold(const JobBuilder& b, const Options& options = {}, FoldMode mode = FoldMode::exact) {
  return {b.job, std::make_shared<const partition::Objects>(b.job, b.cluster), options, mode};
}

TEST(Folding, OneNodeStandsForAllReplicas) {
  const JobBuilder b = replicas(8);
  const Folding folding = fold(b);
  EXPECT_EQ(folding.islands(), 1u);
  EXPECT_EQ(folding.devices(), 2);
  EXPECT_EQ(folding.islands_of(0).size(), 8u);
  EXPECT_EQ(folding.representative(5), 0u);
  EXPECT_TRUE(folding.assumptions().empty());
  // The two communicators differ by the device that is in them.
  EXPECT_TRUE(folding.simulated(8) && folding.simulated(9));
  EXPECT_EQ(std::vector<std::int64_t>(folding.members(9).begin(), folding.members(9).end()),
            std::vector<std::int64_t>{1});
  EXPECT_EQ(folding.assign(2).owner->at(3), engine::no_rank);
  EXPECT_EQ(folding.devices_of(folding.assign(2), 0).size() + folding.devices_of(folding.assign(2), 1).size(), 16u);
}

TEST(Folding, ADelayedDeviceStandsApart) {
  Options options;
  options.delays = {{5, 0, Time::microseconds(1)}};
  const Folding folding = fold(replicas(8), options);
  EXPECT_EQ(folding.islands(), 2u);
  EXPECT_EQ(folding.islands_of(2).size(), 1u);
  EXPECT_EQ(folding.islands_of(0).size(), 7u);
}

TEST(Folding, PlaceOnLeafSwitchesCountsExactlyButNotApproximately) {
  cluster::Fabric fabric;
  fabric.nodes_per_leaf = 3;
  fabric.oversubscription = 4;
  const JobBuilder even = replicas(9, fabric);
  const JobBuilder uneven = replicas(8, fabric);
  EXPECT_EQ(fold(even).islands(), 1u);  // a ring crosses every leaf's uplinks once
  EXPECT_EQ(fold(uneven, {}, FoldMode::approx).islands(), 1u);
  for (const JobBuilder* b : {&even, &uneven}) {
    const Outcome whole = simulate(*b);
    const Outcome exact = simulate(*b, {}, {0, {}, 0, FoldMode::exact});
    const Outcome approx = simulate(*b, {}, {0, {}, 0, FoldMode::approx});
    EXPECT_EQ(pack(exact.result), pack(whole.result));
    EXPECT_GE(approx.result.iteration_end, whole.result.iteration_end);  // the worst place for everybody
  }
}

TEST(Folding, JitterFoldsApproximatelyOnlyAndSaysSo) {
  Options options;
  options.compute_jitter = 0.01;
  EXPECT_THROW(fold(replicas(4), options), InputError);
  const Folding folding = fold(replicas(4), options, FoldMode::approx);
  EXPECT_EQ(folding.islands(), 1u);
  ASSERT_EQ(folding.assumptions().size(), 1u);
  EXPECT_NE(folding.assumptions()[0].find("2 of 8 devices draw jitter"), std::string::npos);
}

}  // namespace
}  // namespace proteus::executor::testing
