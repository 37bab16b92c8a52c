// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "random_job.hpp"

namespace proteus::executor::testing {
namespace {

class Determinism : public ::testing::TestWithParam<std::uint32_t> {};

void expect_equal(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.result.hash, b.result.hash);
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.result.collectives, b.result.collectives);
  EXPECT_EQ(pack(a.result), pack(b.result));
}

TEST_P(Determinism, AnyNumberOfRanksAndAnyPartitionGiveTheSame) {
  JobBuilder b = RandomJob(GetParam()).take();
  for (double jitter : {0.0, 0.2}) {
    Options options;
    options.seed = GetParam();
    options.compute_jitter = jitter;
    options.network = GetParam() % 3 == 0 ? NetworkMode::fair_share : NetworkMode::max_min;
    Outcome reference = simulate(b, options);
    for (int ranks : {1, 2, 5, 16}) {
      SCOPED_TRACE(ranks);
      using partition::PolicyKind;
      for (PolicyKind kind : {PolicyKind::block, PolicyKind::replica, PolicyKind::random}) {
        expect_equal(reference, simulate(b, options, {ranks, {kind, 11}, 0}));
      }
      expect_equal(reference, simulate(b, options, {ranks, {PolicyKind::random, 12}, 99}));
    }
  }
}

TEST_P(Determinism, OnePicosecondMovesTheHash) {
  JobBuilder b = RandomJob(GetParam()).take();
  Options options;
  options.delays = {{0, 0, Time::picoseconds(1)}};
  for (std::size_t i = 0; i < b.job.phases[0].ops.size(); ++i) {
    if (b.job.phases[0].ops[i].is_compute()) {
      options.delays[0].position = static_cast<std::int64_t>(i);
      break;
    }
  }
  EXPECT_NE(simulate(b).result.hash, simulate(b, options).result.hash);
}

INSTANTIATE_TEST_SUITE_P(Jobs, Determinism, ::testing::Range(0u, 200u));

}  // namespace
}  // namespace proteus::executor::testing
