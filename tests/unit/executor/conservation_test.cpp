// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "random_job.hpp"

namespace proteus::executor::testing {
namespace {

class Conservation : public ::testing::TestWithParam<std::uint32_t> {};

/// Checks the rows of one device against its program.
void check_device(const JobBuilder& b, const Outcome& r, std::int64_t device) {
  const graph::Program& program = b.job.programs[b.job.class_of(device)];
  std::array<std::vector<Row>, graph::stream_count> streams;
  std::int64_t position = 0;
  std::int64_t host = 0;
  std::int64_t last_sync_end = 0;
  for (int iteration = 0; iteration < b.job.iterations; ++iteration) {
    for (const auto& step : program.steps) {
      const graph::Phase& phase = b.job.phases[step.phase];
      std::array<std::size_t, graph::stream_count> base{};
      for (std::size_t s = 0; s < streams.size(); ++s) base[s] = streams[s].size();
      for (const auto& op : phase.ops) {
        Row row = r.at(device, position++);
        host += op.host_ps;
        // The host issues in order, each op at its own cost.
        ASSERT_GE(row.start, host);
        ASSERT_GE(row.start, last_sync_end);
        if (op.host_sync) last_sync_end = row.end();
        auto& own = streams[static_cast<std::size_t>(op.stream)];
        if (!own.empty()) {
          ASSERT_GE(row.start, own.back().end());
        }
        for (std::size_t w = 0; w < op.wait_count; ++w) {
          auto s = static_cast<std::size_t>(op.waits[w].stream);
          std::size_t count = base[s] + op.waits[w].count;
          if (count > 0) {
            ASSERT_GE(row.start, streams[s].at(count - 1).end());
          }
        }
        if (op.is_compute()) {
          ASSERT_GE(row.duration, op.duration_ps);
          ASSERT_LE(row.duration, op.overlapped_ps + 10);
        }
        own.push_back(row);
      }
    }
  }
}

TEST_P(Conservation, StreamsAreInOrderAndOpsStartBehindTheirWaits) {
  JobBuilder b = RandomJob(GetParam()).take();
  Outcome r = simulate(b);
  EXPECT_FALSE(r.twice);
  std::uint64_t expected = 0;
  for (std::int64_t d = 0; d < b.job.devices; ++d) {
    expected += static_cast<std::uint64_t>(b.job.programs[b.job.class_of(d)].rows() * b.job.iterations);
    check_device(b, r, d);
  }
  EXPECT_EQ(r.rows.size(), expected);
  EXPECT_EQ(r.result.rows, expected);
}

TEST_P(Conservation, BreakdownAddsUpToTheIteration) {
  JobBuilder b = RandomJob(GetParam()).take();
  Options options;
  options.compute_jitter = GetParam() % 2 == 0 ? 0 : 0.1;
  Outcome r = simulate(b, options);
  const auto& ends = r.result.iteration_end;
  std::int64_t length = ends.back().ps() - (ends.size() > 1 ? ends[ends.size() - 2].ps() : 0);
  std::int64_t devices = 0;
  for (const ClassResult& part : r.result.classes) {
    EXPECT_EQ(total(part.sum), part.devices * length);
    for (TimeSum t : {part.sum.compute, part.sum.bubble, part.sum.skew, part.sum.host, part.sum.idle}) {
      EXPECT_GE(t, Time::zero());
    }
    devices += part.devices;
  }
  EXPECT_EQ(devices, b.job.devices);
}

INSTANTIATE_TEST_SUITE_P(Jobs, Conservation, ::testing::Range(100u, 160u));

}  // namespace
}  // namespace proteus::executor::testing
