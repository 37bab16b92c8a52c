// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace proteus::graph {
namespace {

using strategy::SchedulePolicy;

/// "F0.1" is forward of micro-batch 0 through chunk 1.
std::string text(const std::vector<Slot>& slots, std::size_t count = 100000) {
  std::string result;
  for (std::size_t i = 0; i < std::min(count, slots.size()); ++i) {
    result += (slots[i].forward ? "F" : "B") + std::to_string(slots[i].micro_batch) + "." +
              std::to_string(slots[i].chunk) + " ";
  }
  return result;
}

std::size_t most_in_flight(const std::vector<Slot>& slots) {
  std::size_t alive = 0, most = 0;
  for (const Slot& slot : slots) {
    alive = slot.forward ? alive + 1 : alive - 1;
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
        seen[{slot.chunk, slot.micro_batch}] += slot.forward ? "F" : "B";
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(p.chunks * p.micro_batches));
      for (const auto& [key, order] : seen) EXPECT_EQ(order, "FB");
    }
  }
}

}  // namespace
}  // namespace proteus::graph
