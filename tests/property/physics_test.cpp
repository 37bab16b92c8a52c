// SPDX-License-Identifier: Apache-2.0
// What holds for every job, whatever it is: streams are in order, work takes its time, transfers are no faster than
// their links, the parts of an iteration add up, memory comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "saved_job.hpp"
#include "seeds.hpp"

namespace proteus::property {
namespace {

using graph::Stream;

// Times of transfers round to picoseconds at each leg, works at each change of pace.
constexpr std::int64_t rounding_ps = 4;

std::int64_t end_of(const Row& row) { return row.start_ps + row.duration_ps; }

/// One op instance and its row.
struct Instance {
  const graph::ProgramOp* op = nullptr;
  Row row;
  std::int64_t position = 0;
  int iteration = 0;
};

/// All of one device, in program order.
std::vector<Instance> instances(const graph::Job& job, const Outcome& outcome, std::int64_t device) {
  std::vector<Instance> list;
  const auto& rows = outcome.rows[static_cast<std::size_t>(device)];
  for (int iteration = 0; iteration < job.iterations; ++iteration) {
    for (const graph::Step& step : job.programs[job.class_of(device)].steps) {
      for (const graph::ProgramOp& op : job.phases[step.phase].ops) {
        list.push_back({&op, rows[list.size()], static_cast<std::int64_t>(list.size()), iteration});
      }
    }
  }
  return list;
}

class Physics : public SavedJob {
 protected:
  void SetUp() override {
    SavedJob::SetUp();
    outcome_ = run(job_, {});
    for (std::int64_t device = 0; device < job().devices; ++device) {
      devices_.push_back(instances(job(), outcome_, device));
    }
  }

  const graph::Job& job() const { return job_.prepared.job; }
  const io::SimulateOptions& options() const { return job_.prepared.experiment.simulate; }

  /// Time that an op takes alone, and beside communication; jitter left out.
  std::pair<std::int64_t, std::int64_t> work(const Instance& instance, std::int64_t device) const {
    const graph::ProgramOp& op = *instance.op;
    std::int64_t alone = op.duration_ps;
    for (const io::Delay& delay : options().delays) {
      if (delay.device == device && delay.position == instance.position) alone += delay.by.ps();
    }
    const double slowdown =
        op.duration_ps > 0 ? static_cast<double>(op.overlapped_ps) / static_cast<double>(op.duration_ps) : 1;
    return {alone, static_cast<std::int64_t>(static_cast<double>(alone) * slowdown)};
  }

  Outcome outcome_;
  std::vector<std::vector<Instance>> devices_;
};

TEST_P(Physics, StreamsAreInOrderAndWaitForWhatTheyNeed) {
  for (std::int64_t device = 0; device < job().devices; ++device) {
    const graph::Program& program = job().programs[job().class_of(device)];
    std::array<std::vector<Row>, graph::stream_count> streams;
    auto next = devices_[static_cast<std::size_t>(device)].begin();
    std::int64_t host = 0;
    std::int64_t synchronized = 0;
    for (int iteration = 0; iteration < job().iterations; ++iteration) {
      for (const graph::Step& step : program.steps) {
        std::array<std::size_t, graph::stream_count> before{};
        std::ranges::transform(streams, before.begin(), [](const auto& stream) { return stream.size(); });
        for (const graph::ProgramOp& op : job().phases[step.phase].ops) {
          const Row row = (next++)->row;
          host += op.host_ps;
          ASSERT_GE(row.start_ps, std::max(host, synchronized)) << device;
          ASSERT_GE(row.duration_ps, 0);
          if (op.host_sync) synchronized = end_of(row);
          auto& own = streams[static_cast<std::size_t>(op.stream)];
          if (!own.empty()) {
            ASSERT_GE(row.start_ps, end_of(own.back())) << device;
          }
          own.push_back(row);
          for (std::size_t w = 0; w < op.wait_count; ++w) {
            const auto stream = static_cast<std::size_t>(op.waits[w].stream);
            const std::size_t count = before[stream] + op.waits[w].count;
            if (count > 0) {
              ASSERT_GE(row.start_ps, end_of(streams[stream].at(count - 1))) << device;
            }
          }
        }
      }
    }
  }
}

TEST_P(Physics, ComputeTakesItsTimeAndMoreOnlyBesideCommunication) {
  if (options().compute_jitter > 0) GTEST_SKIP() << "every duration is random";
  for (std::int64_t device = 0; device < job().devices; ++device) {
    std::vector<Row> resident;
    for (const Instance& instance : devices_[static_cast<std::size_t>(device)]) {
      const graph::ProgramOp& op = *instance.op;
      if (!op.is_compute() && job().collectives[op.collective].slows_compute()) resident.push_back(instance.row);
    }
    std::ranges::sort(resident, {}, &Row::start_ps);
    std::size_t first = 0;  // that may still last
    for (const Instance& instance : devices_[static_cast<std::size_t>(device)]) {
      if (!instance.op->is_compute()) continue;
      std::int64_t changes = 0;
      std::int64_t beside = 0;
      while (first < resident.size() && end_of(resident[first]) <= instance.row.start_ps) ++first;
      for (std::size_t i = first; i < resident.size() && resident[i].start_ps < end_of(instance.row); ++i) {
        const std::int64_t common =
            std::min(end_of(resident[i]), end_of(instance.row)) - std::max(resident[i].start_ps, instance.row.start_ps);
        beside += std::max<std::int64_t>(0, common);
        changes += common > 0 ? 2 : 0;
      }
      const auto [alone, slowed] = work(instance, device);
      ASSERT_GE(instance.row.duration_ps, alone);
      if (beside == 0) {
        ASSERT_EQ(instance.row.duration_ps, alone) << "device " << device << ", position " << instance.position;
      }
      ASSERT_LE(instance.row.duration_ps, slowed + rounding_ps + changes);
      // What it lost it lost beside communication.
      ASSERT_LE(instance.row.duration_ps - alone, beside + changes);
    }
  }
}

TEST_P(Physics, CollectivesEndTogetherAndNoFasterThanOnIdleLinks) {
  using Meeting = std::tuple<std::uint32_t, std::int64_t, Stream>;  // family, group, lane
  std::map<Meeting, std::map<std::int64_t, std::vector<Instance>>> meetings;
  for (std::int64_t device = 0; device < job().devices; ++device) {
    for (const Instance& instance : devices_[static_cast<std::size_t>(device)]) {
      const graph::ProgramOp& op = *instance.op;
      if (op.is_compute()) continue;
      const std::uint32_t family = job().collectives[op.collective].family;
      Stream lane = op.stream;
      if (lane == Stream::forward_receive) lane = Stream::forward_send;
      if (lane == Stream::backward_receive) lane = Stream::backward_send;
      const auto place = job().families[family].locate(device);
      ASSERT_TRUE(place.has_value());
      meetings[{family, place->group, lane}][place->member].push_back(instance);
    }
  }
  for (const auto& [meeting, members] : meetings) {
    const auto& [number, group, lane] = meeting;
    const graph::CommunicatorFamily& family = job().families[number];
    ASSERT_EQ(std::ssize(members), family.members()) << family.name;
    const auto placement = family.placement(group, job().island_size);
    for (std::size_t i = 0; i < members.begin()->second.size(); ++i) {
      const Instance& one = members.begin()->second[i];
      std::int64_t last_start = 0;
      for (const auto& [member, list] : members) {
        ASSERT_EQ(list.size(), members.begin()->second.size()) << family.name;
        ASSERT_EQ(end_of(list[i].row), end_of(one.row)) << family.name << " member " << member;
        last_start = std::max(last_start, list[i].row.start_ps);
      }
      const graph::CollectiveUse& use = job().collectives[one.op->collective];
      const cost::CollectiveCost& price = use.cost.at(placement);
      ASSERT_GE(end_of(one.row) + rounding_ps, last_start + (price.latency + use.size / price.bandwidth).ps())
          << family.name;
    }
  }
}

TEST_P(Physics, IterationsFollowEachOtherAndTheirPartsAddUp) {
  const auto& ends = outcome_.result.iteration_end;
  ASSERT_EQ(std::ssize(ends), job().iterations);
  std::int64_t length = 0;
  std::int64_t before = 0;
  for (Time end : ends) {
    length = end.ps() - before;
    before = end.ps();
    ASSERT_GT(length, 0);
  }
  std::vector<std::int64_t> compute(job().programs.size());
  std::vector<std::int64_t> last_end(static_cast<std::size_t>(job().iterations));
  for (std::int64_t device = 0; device < job().devices; ++device) {
    for (const Instance& instance : devices_[static_cast<std::size_t>(device)]) {
      auto& end = last_end[static_cast<std::size_t>(instance.iteration)];
      end = std::max(end, end_of(instance.row));
      if (instance.op->is_compute() && instance.iteration == job().iterations - 1) {
        compute[job().class_of(device)] += instance.row.duration_ps;
      }
    }
  }
  for (std::size_t i = 0; i < last_end.size(); ++i) EXPECT_EQ(ends[i].ps(), last_end[i]);

  std::int64_t devices = 0;
  for (std::size_t i = 0; i < compute.size(); ++i) {
    const executor::ClassResult& part = outcome_.result.classes[i];
    const executor::Breakdown& sum = part.sum;
    TimeSum total = sum.compute + sum.bubble + sum.skew + sum.host + sum.idle;
    for (TimeSum time : sum.exposed) total += time;
    EXPECT_EQ(total.ps(), length * part.devices);
    EXPECT_EQ(sum.compute.ps(), compute[i]);
    for (TimeSum time : {sum.bubble, sum.skew, sum.host, sum.idle}) EXPECT_GE(time, Time::zero());
    for (TimeSum time : sum.exposed) EXPECT_GE(time, Time::zero());
    devices += part.devices;
  }
  EXPECT_EQ(devices, job().devices);
}

TEST_P(Physics, MemoryComesBack) {
  for (const graph::MemoryPlan& plan : job().memory) {
    const Bytes fixed = plan.parameters + plan.gradients + plan.optimizer + plan.communication + plan.context;
    ASSERT_FALSE(plan.after_step.empty());
    EXPECT_EQ(plan.after_step.back(), fixed.value);
    EXPECT_GE(plan.peak.value, std::ranges::max(plan.after_step));
    EXPECT_EQ(plan.peak, fixed + plan.activations + plan.temporaries);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Physics, ::testing::ValuesIn(seeds()));

}  // namespace
}  // namespace proteus::property
