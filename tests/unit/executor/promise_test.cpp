// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "job_builder.hpp"

namespace proteus::executor::testing {
namespace {

using B = JobBuilder;

// A kernel that runs beside a transfer within the rank is slow until the transfer ends: what is promised behind it must
// not be put off to the end that the kernel would have if the transfer lasted.
TEST(Promise, OfSlowComputeReckonsWithTheEndOfTheTransferBesideIt) {
  B b(2, 1);
  const auto tensor = b.family("tp", 0, {}, {{1, 2}});
  const auto gradient = b.family("dp", 0, {}, {{1, 2}});
  const auto often = b.collective(tensor, cost::Collective::all_reduce, 50'000, Traffic::tensor, 4'000, 1e12);
  const auto seldom = b.collective(gradient, cost::Collective::all_reduce, 50'000, Traffic::gradient, 4'000, 1e12);
  b.program({b.phase("backward", {B::compute(1'000), B::communicate(often, Stream::tensor, {{Stream::compute, 1}}),
                                  B::compute(100'000, {}, 200'000),
                                  B::communicate(seldom, Stream::gradient, {{Stream::compute, 2}})})});
  b.finish();
  const Outcome expected = simulate(b);
  const Row slow = expected.at(0, 2);
  ASSERT_GT(slow.duration, 100'000);
  ASSERT_LT(slow.duration, 200'000);
  ASSERT_EQ(expected.at(0, 3).start, slow.end());

  Options options;
  options.engine.budget.events = 1;  // so that promises are made while the transfer lasts
  options.engine.budget.events_between_looks = 1;
  for (int ranks : {1, 2}) {
    How how;
    how.ranks = ranks;
    EXPECT_EQ(simulate(b, options, how).rows, expected.rows) << ranks;
  }
}

}  // namespace
}  // namespace proteus::executor::testing
