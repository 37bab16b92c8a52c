// SPDX-License-Identifier: Apache-2.0
// Wherever a rank ends its part of a window, in the middle of an instant too, and whatever heap holds its events, a job
// runs as in one loop.
#include <gtest/gtest.h>

#include "random_job.hpp"

namespace proteus::executor::testing {
namespace {

class TinyBudgets : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(TinyBudgets, ChangeNothing) {
  const JobBuilder b = RandomJob(GetParam()).take();
  Options options;
  options.compute_jitter = GetParam() % 3 == 0 ? 0.02 : 0;
  const Outcome expected = simulate(b, options);
  std::uint64_t least = 0;
  for (engine::QueueKind queue : {engine::QueueKind::radix, engine::QueueKind::binary}) {
    options.engine.queue = queue;
    for (int events : {1'000'000, 1, 3}) {
      options.engine.budget = {};
      options.engine.budget.events_between_looks = 1;
      options.engine.budget.events = static_cast<std::uint64_t>(events);
      for (std::uint64_t seed : {1U, 2U}) {
        How how;
        how.ranks = 3;
        how.shuffle = seed;
        if (seed == 2) how.policy = {partition::PolicyKind::random, GetParam()};
        const Outcome found = simulate(b, options, how);
        EXPECT_EQ(found.result.hash, expected.result.hash) << events << " events a window, " << seed;
        EXPECT_EQ(found.rows, expected.rows);
        if (events == 1'000'000 && least == 0) least = found.windows;
        if (events == 1) {
          EXPECT_GT(found.windows, least);
        }
      }
    }
    options.engine.budget = {};
    options.engine.budget.messages = 1;
    options.engine.budget.time = std::chrono::seconds(0);
    options.engine.budget.events_between_looks = 2;
    How how;
    how.ranks = 5;
    EXPECT_EQ(simulate(b, options, how).result.hash, expected.result.hash);
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, TinyBudgets, ::testing::Range(1U, 31U));

}  // namespace
}  // namespace proteus::executor::testing
