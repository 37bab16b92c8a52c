// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "unit/graph/compile_fixture.hpp"

namespace proteus::graph {
namespace {

/// Gradients reduced beside the last backward, in buckets that the runtime's rule cuts.
class Buckets : public Compile {
 protected:
  Buckets() {
    rule_.match.role = strategy::Role::gradient;
    rule_.effect.stream = "gradient";
    rule_.effect.bucket_elements = 10e6;
  }

  strategy::Strategy everywhere(std::int64_t devices) const {
    strategy::DataParallelOptions options;
    options.micro_batch = 1;
    options.global_batch = 2 * devices;
    return strategy::data_parallel(options, devices);
  }

  Job compiled(const strategy::Strategy& strategy) {
    runtime_.rules = {rule_};
    cluster_.nodes = 1;
    return compile(strategy);
  }

  /// Elements of each reduction that a phase issues, in order.
  static std::vector<std::int64_t> sizes(const Job& job, std::int64_t stage, const std::string& phase) {
    std::vector<std::int64_t> found;
    const Phase& ops = phase_of(job, stage, phase);
    for (std::size_t i = 0; i < ops.ops.size(); ++i) {
      if (ops.ops[i].is_compute()) continue;
      const CollectiveUse& use = job.collectives[ops.ops[i].collective];
      if (use.traffic == Traffic::gradient) found.push_back(use.size.value / size_of(use.type));
    }
    return found;
  }

  strategy::Rule rule_;
};

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

TEST_F(Buckets, AreCutBehindTheParameterThatFillsThem) {
  const auto cut = sizes(compiled(everywhere(8)), 0, "backward.last[0]");
  ASSERT_GT(cut.size(), 2U);
  for (std::size_t i = 0; i + 1 < cut.size(); ++i) EXPECT_GE(cut[i], 10'000'000);
  rule_.effect.bucket_elements.reset();
  EXPECT_THAT(sizes(compiled(everywhere(8)), 0, "backward.last[0]"), testing::ElementsAre(sum(cut)));
}

TEST_F(Buckets, TheFirstMayBeSmallerThanTheOthers) {
  const auto equal = sizes(compiled(everywhere(8)), 0, "backward.last[0]");
  rule_.effect.first_bucket_elements = 1e6;
  const auto cut = sizes(compiled(everywhere(8)), 0, "backward.last[0]");
  // The last linear of the last layer is ready first: 4 h^2 weights of the second linear.
  EXPECT_GE(cut.front(), 1'000'000);
  EXPECT_LT(cut.front(), equal.front());
  for (std::size_t i = 1; i + 1 < cut.size(); ++i) EXPECT_GE(cut[i], 10'000'000);
  EXPECT_EQ(sum(cut), sum(equal));
}

TEST_F(Buckets, OnlyTheFirstChunkIsCutWhereTheRuntimeSaysSo) {
  options_.tp = 1;
  options_.pp = 2;
  options_.overlap_grad_reduce = true;
  const auto pipeline = strategy::megatron(options_, 8, model_.layers);
  Job job = compiled(pipeline);
  EXPECT_GT(sizes(job, 0, "backward.last[0]").size(), 1U);
  EXPECT_GT(sizes(job, 1, "backward.last[0]").size(), 1U);
  const auto second = sum(sizes(job, 1, "backward.last[0]"));
  rule_.effect.bucket_chunks = "first";
  job = compiled(pipeline);
  EXPECT_GT(sizes(job, 0, "backward.last[0]").size(), 1U);
  EXPECT_THAT(sizes(job, 1, "backward.last[0]"), testing::ElementsAre(second));
}

}  // namespace
}  // namespace proteus::graph
