// SPDX-License-Identifier: Apache-2.0
// However a random job is run, it gives what one loop over all events gives: the same hash, rows and summary.
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>

#include "saved_job.hpp"
#include "seeds.hpp"
#include "ways.hpp"

namespace proteus::property {
namespace {

/// Where two timelines differ first.
std::string first_difference(const Outcome& expected, const Outcome& found) {
  for (std::size_t device = 0; device < expected.rows.size(); ++device) {
    for (std::size_t position = 0; position < expected.rows[device].size(); ++position) {
      const Row& a = expected.rows[device][position];
      const Row& b = found.rows[device][position];
      if (a == b) continue;
      return fmt::format("device {}, position {}: {} + {} ps, not {} + {} ps", device, position, b.start_ps,
                         b.duration_ps, a.start_ps, a.duration_ps);
    }
  }
  return "";
}

void expect_same(const Outcome& expected, const Outcome& found) {
  EXPECT_EQ(found.result.hash.to_string(), expected.result.hash.to_string());
  EXPECT_EQ(first_difference(expected, found), "");
  EXPECT_FALSE(found.twice);
  EXPECT_EQ(executor::pack(found.result), executor::pack(expected.result));
  EXPECT_EQ(found.summary, expected.summary);
}

class RandomExperiment : public SavedJob {
 protected:
  void expect_same_in(const Outcome& expected, const Way& way) {
    SCOPED_TRACE(way.name());
    try {
      expect_same(expected, run(job_, way));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
};

TEST_P(RandomExperiment, IsTheSameInEveryWay) {
  const Outcome expected = run(job_, {});
  ASSERT_FALSE(expected.twice);
  Way binary;
  binary.queue = engine::QueueKind::binary;
  expect_same_in(expected, binary);
  for (std::uint64_t number : ways_of(job_.seed)) expect_same_in(expected, drawn_way(job_.seed, number));
  if (job_.prepared.experiment.simulate.compute_jitter > 0) return;
  Way folded;
  folded.folded = true;
  for (int ranks : {0, 1, 3}) {
    folded.ranks = ranks;
    folded.travel = ranks == 3 ? Travel::delayed : Travel::in_order;
    expect_same_in(expected, folded);
  }
}

TEST_P(RandomExperiment, IsReproducedByItsResolvedInput) {
  const cli::PreparedJob again = prepare_text(job_.prepared.experiment.resolved);
  const io::Experiment& experiment = again.experiment;
  expect_same(run(job_, {}), run(again.job, experiment.cluster, cli::executor_options(experiment.simulate), {}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomExperiment, ::testing::ValuesIn(seeds()));

TEST(RandomExperiments, AreRunInEveryWayEquallyOften) {
  std::vector<std::uint64_t> runs(count_of_ways());
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (std::uint64_t number : ways_of(seed)) ++runs[number];
  }
  const auto [least, most] = std::ranges::minmax(runs);
  EXPECT_GE(least, 10U);
  EXPECT_LE(most, least + 1);
}

}  // namespace
}  // namespace proteus::property
