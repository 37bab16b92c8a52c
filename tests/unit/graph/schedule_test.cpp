// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace proteus::graph {
namespace {

using strategy::SchedulePolicy;

/// "F0.1" is forward of micro-batch 0 through chunk 1.
std::string text(const std::vector<Slot>& slots, std::size_t count = 100000) {
  std::string result;
  for (std::size_t i = 0; i < std::min(count, slots.size()); ++i) {
    result += (std::string(1, letter_of(slots[i].kind))) + std::to_string(slots[i].micro_batch) + "." +
              std::to_string(slots[i].chunk) + " ";
  }
  return result;
}

std::size_t most_in_flight(const std::vector<Slot>& slots) {
  std::size_t alive = 0, most = 0;
  for (const Slot& slot : slots) {
    alive = slot.forward() ? alive + 1 : alive - 1;
    most = std::max(most, alive);
  }
  return most;
}

TEST(Schedule, OneForwardOneBackwardByHand) {
  const Pipeline p{3, 1, 4};
  EXPECT_EQ(text(schedule(SchedulePolicy::one_f_one_b, p, 0)), "F0.0 F1.0 F2.0 B0.0 F3.0 B1.0 B2.0 B3.0 ");
  EXPECT_EQ(text(schedule(SchedulePolicy::one_f_one_b, p, 2)), "F0.0 B0.0 F1.0 B1.0 F2.0 B2.0 F3.0 B3.0 ");
}

TEST(Schedule, GpipeRunsAllForwardsFirst) {
  EXPECT_EQ(text(schedule(SchedulePolicy::gpipe, {2, 1, 3}, 1)), "F0.0 F1.0 F2.0 B0.0 B1.0 B2.0 ");
}

TEST(Schedule, InterleavedByHand) {
  // Two stages, two chunks, four micro-batches: groups of two, warm-up 2 (p - r - 1) + (v - 1) p = 4 on stage 0.
  EXPECT_EQ(text(schedule(SchedulePolicy::interleaved_1f1b, {2, 2, 4}, 0), 8),
            "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 ");
  EXPECT_EQ(text(schedule(SchedulePolicy::interleaved_1f1b, {2, 2, 4}, 1), 6), "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 ");
}

TEST(Schedule, StepsOfInterleavedPairsEndWithTheirBackward) {
  const auto paired = [](SchedulePolicy policy, const Pipeline& p, std::int64_t stage) {
    std::string marks;
    for (const Slot& slot : schedule(policy, p, stage)) marks += slot.forward() ? 'F' : slot.paired ? 'P' : 'B';
    return marks;
  };
  EXPECT_EQ(paired(SchedulePolicy::interleaved_1f1b, {2, 2, 4}, 0), "FFFFFPFPFPFPBBBB");
  EXPECT_EQ(paired(SchedulePolicy::interleaved_1f1b, {2, 2, 4}, 1), "FFFPFPFPFPFPFPBB");
  EXPECT_EQ(paired(SchedulePolicy::interleaved_1f1b, {2, 2, 2, true}, 1), "FFFFBBBB");
  EXPECT_EQ(paired(SchedulePolicy::one_f_one_b, {2, 1, 3}, 0), "FFBFBB");
}

TEST(Schedule, KeepsAsManyMicroBatchesAliveAsThePapersSay) {
  // 1F1B: p - r (Narayanan et al. 2021); interleaved: 2 (p - r - 1) + (v - 1) p + 1 chunks.
  for (std::int64_t stage = 0; stage < 8; ++stage) {
    EXPECT_EQ(most_in_flight(schedule(SchedulePolicy::one_f_one_b, {8, 1, 32}, stage)),
              8u - static_cast<std::size_t>(stage));
    EXPECT_EQ(most_in_flight(schedule(SchedulePolicy::interleaved_1f1b, {8, 3, 32}, stage)),
              2u * (7u - static_cast<std::size_t>(stage)) + 16u + 1u);
  }
}

TEST(Schedule, EverySlotOnceAndForwardBeforeBackward) {
  for (auto policy : {SchedulePolicy::gpipe, SchedulePolicy::one_f_one_b, SchedulePolicy::interleaved_1f1b}) {
    const Pipeline p{4, policy == SchedulePolicy::interleaved_1f1b ? 3 : 1, 8};
    for (std::int64_t stage = 0; stage < p.stages; ++stage) {
      std::map<std::pair<std::int64_t, std::int64_t>, std::string> seen;
      for (const Slot& slot : schedule(policy, p, stage))
        seen[{slot.chunk, slot.micro_batch}] += slot.forward() ? "F" : "B";
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(p.chunks * p.micro_batches));
      for (const auto& [key, order] : seen) EXPECT_EQ(order, "FB");
    }
  }
}

TEST(Schedule, WarmsUpWithOneForwardForEachStageBehind) {
  const auto warm_up = [](const std::vector<Slot>& slots) {
    return std::find_if(slots.begin(), slots.end(), [](const Slot& slot) { return !slot.forward(); }) - slots.begin();
  };
  for (std::int64_t stage = 0; stage < 6; ++stage) {
    // p - r - 1, then the forward of the first pair; with fewer micro-batches than that, all of them.
    EXPECT_EQ(warm_up(schedule(SchedulePolicy::one_f_one_b, {6, 1, 20}, stage)), 6 - stage - 1 + 1);
    EXPECT_EQ(warm_up(schedule(SchedulePolicy::one_f_one_b, {6, 1, 3}, stage)), std::min<std::int64_t>(6 - stage, 3));
  }
}

TEST(Schedule, InterleavedWithAsManyMicroBatchesAsStagesRunsAllForwardsFirstWhereTheRuntimeDoes) {
  for (std::int64_t stage = 0; stage < 2; ++stage) {
    EXPECT_EQ(text(schedule(SchedulePolicy::interleaved_1f1b, {2, 2, 2, true}, stage)),
              "F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0 ");
  }
  EXPECT_EQ(text(schedule(SchedulePolicy::interleaved_1f1b, {2, 2, 2, false}, 1)),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0 ");
}

/// Runs the orders of all stages, each slot as soon as its stage is free and what it needs is there; sends take no
/// time. A chunk takes 1 forward, 1 for each gradient. Returns when the last stage is done, or -1 where no stage can go
/// on.
std::int64_t makespan(SchedulePolicy policy, const Pipeline& p) {
  using Key = std::pair<std::int64_t, std::int64_t>;  // global chunk, micro-batch
  std::map<Key, std::int64_t> forward, backward;      // end times
  std::vector<std::vector<Slot>> orders;
  std::vector<std::size_t> next(static_cast<std::size_t>(p.stages), 0);
  std::vector<std::int64_t> free(static_cast<std::size_t>(p.stages), 0);
  for (std::int64_t stage = 0; stage < p.stages; ++stage) orders.push_back(schedule(policy, p, stage));
  const std::int64_t last = p.stages * p.chunks - 1;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage < orders.size(); ++stage) {
      while (next[stage] < orders[stage].size()) {
        const Slot& slot = orders[stage][next[stage]];
        const std::int64_t chunk = slot.chunk * p.stages + static_cast<std::int64_t>(stage);
        // Forward needs the chunk in front; backward the one behind, or its own forward in the last chunk.
        const auto& needs = slot.forward() || chunk == last ? forward : backward;
        const std::int64_t from = slot.forward() ? chunk - 1 : std::min(chunk + 1, last);
        std::int64_t start = free[stage];
        if (from >= 0 && !slot.weights_only()) {
          const auto found = needs.find({from, slot.micro_batch});
          if (found == needs.end()) break;
          start = std::max(start, found->second);
        }
        free[stage] = start + (slot.kind == strategy::PassKind::backward ? 2 : 1);
        if (!slot.weights_only()) (slot.forward() ? forward : backward)[{chunk, slot.micro_batch}] = free[stage];
        ++next[stage];
        moved = true;
      }
    }
  }
  for (std::size_t stage = 0; stage < orders.size(); ++stage) {
    if (next[stage] < orders[stage].size()) return -1;
  }
  return *std::max_element(free.begin(), free.end());
}

TEST(Schedule, BubblesAreThoseOfThePapers) {
  // GPipe and 1F1B: (m + p - 1) (F + B). Interleaved: the same bubble over v, m v (F + B) + (p - 1) (F + B) with the
  // times of one chunk (Narayanan et al. 2021, sections 2.2.1 and 2.2.2).
  for (std::int64_t p : {2, 4, 8}) {
    for (std::int64_t groups : {2, 3, 5}) {
      const std::int64_t m = p * groups;
      EXPECT_EQ(makespan(SchedulePolicy::gpipe, {p, 1, m}), (m + p - 1) * 3);
      EXPECT_EQ(makespan(SchedulePolicy::one_f_one_b, {p, 1, m}), (m + p - 1) * 3);
      for (std::int64_t v : {2, 3}) {
        EXPECT_EQ(makespan(SchedulePolicy::interleaved_1f1b, {p, v, m}), (m * v + p - 1) * 3) << p << " " << v;
      }
    }
  }
}

TEST(Schedule, ZeroBubbleH1ByHand) {
  // Qi et al. 2024 (arXiv:2401.10241), figure 3: the weight gradients of stage s come s micro-batches behind.
  const Pipeline p{3, 1, 4};
  EXPECT_EQ(text(schedule(SchedulePolicy::zb_h1, p, 0)),
            "F0.0 F1.0 F2.0 I0.0 W0.0 F3.0 I1.0 W1.0 I2.0 W2.0 I3.0 W3.0 ");
  EXPECT_EQ(text(schedule(SchedulePolicy::zb_h1, p, 2)),
            "F0.0 I0.0 F1.0 I1.0 F2.0 I2.0 W0.0 F3.0 I3.0 W1.0 W2.0 W3.0 ");
}

TEST(Schedule, ZeroBubbleH1HasAThirdOfTheBubbleAndNoMoreInFlight) {
  // Section 2.3: (p - 1) (F + B - W), with F = B = W = 1 here. What is in flight waits for its weight gradient.
  for (std::int64_t p : {2, 4, 8}) {
    for (std::int64_t m : {p, 2 * p, 4 * p}) {
      EXPECT_EQ(makespan(SchedulePolicy::zb_h1, {p, 1, m}), 3 * m + (p - 1)) << p << " " << m;
      for (std::int64_t stage = 0; stage < p; ++stage) {
        std::int64_t alive = 0, most = 0;
        for (const Slot& slot : schedule(SchedulePolicy::zb_h1, {p, 1, m}, stage)) {
          alive += slot.forward() ? 1 : slot.weights_only() ? -1 : 0;
          most = std::max(most, alive);
        }
        EXPECT_LE(most, p) << stage;
      }
    }
  }
}

TEST(Schedule, FewMicroBatchesDoNotDeadlock) {
  EXPECT_EQ(makespan(SchedulePolicy::zb_h1, {8, 1, 1}), 8 * 2 + 1);
  EXPECT_EQ(makespan(SchedulePolicy::one_f_one_b, {8, 1, 1}), 8 * 3);
  EXPECT_EQ(makespan(SchedulePolicy::one_f_one_b, {8, 1, 3}), (3 + 7) * 3);
  EXPECT_GT(makespan(SchedulePolicy::interleaved_1f1b, {4, 2, 4}), 0);
}

}  // namespace
}  // namespace proteus::graph
