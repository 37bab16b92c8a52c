// SPDX-License-Identifier: Apache-2.0
#include "schedule_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace proteus::graph {
namespace {

using strategy::ChunkPlacement;
using strategy::PassKind;
using testing::HasSubstr;

/// "F0 I0 W0.1": letter, micro-batch and chunk.
std::vector<Slot> order(const std::string& text) {
  std::vector<Slot> slots;
  for (std::size_t at = 0; at < text.size(); at = text.find_first_not_of(' ', text.find(' ', at))) {
    Slot slot;
    for (PassKind kind : {PassKind::forward, PassKind::backward, PassKind::input_gradient, PassKind::weight_gradient}) {
      if (letter_of(kind) == text[at]) slot.kind = kind;
    }
    slot.micro_batch = text[at + 1] - '0';
    if (at + 2 < text.size() && text[at + 2] == '.') slot.chunk = text[at + 3] - '0';
    slots.push_back(slot);
    if (text.find(' ', at) == std::string::npos) break;
  }
  return slots;
}

std::string error(const std::vector<std::string>& texts, std::int64_t micro_batches, bool synchronous = false,
                  ChunkPlacement kind = ChunkPlacement::loop, std::int64_t chunks = 1) {
  std::vector<std::vector<Slot>> orders;
  for (const std::string& text : texts) orders.push_back(order(text));
  const Placement placement(kind, static_cast<std::int64_t>(texts.size()), chunks);
  try {
    check_schedule(orders, placement, micro_batches, {synchronous, synchronous}, {});
  } catch (const InputError& problem) {
    return problem.what();
  }
  return "";
}

TEST(ScheduleCheck, WhatRunsPasses) {
  for (bool synchronous : {false, true}) {
    EXPECT_EQ(error({"F0 F1 B0 B1", "F0 B0 F1 B1"}, 2, synchronous), "");
    EXPECT_EQ(error({"F0 F1 I0 W0 I1 W1", "F0 I0 F1 I1 W0 W1"}, 2, synchronous), "");
  }
  EXPECT_EQ(
      error({"F0 F1 F0.1 F1.1 B0.1 B1.1 B0 B1", "F0 F1 F0.1 F1.1 B0.1 B1.1 B0 B1"}, 2, false, ChunkPlacement::loop, 2),
      "");
  // Up to stage 1, which has chunks 1 and 2, and back.
  EXPECT_EQ(error({"F0 F0.1 B0.1 B0", "F0 F0.1 B0.1 B0"}, 1, false, ChunkPlacement::v, 2), "");
}

TEST(ScheduleCheck, PassesThatAreMissingOrNoneAreNamed) {
  EXPECT_THAT(error({"F0 B0", "F0"}, 1), HasSubstr("stage 1 never runs B0"));
  EXPECT_THAT(error({"F0 I0", "F0 B0"}, 1), HasSubstr("stage 0 never runs W0"));
  EXPECT_THAT(error({"F0 F0 B0", "F0 B0"}, 1), HasSubstr("stage 0, entry 1, F0: stands twice"));
  EXPECT_THAT(error({"F0 B0 W0", "F0 B0"}, 1), HasSubstr("stage 0, entry 2, W0: B has the weight gradient already"));
  EXPECT_THAT(error({"B0 F0", "F0 B0"}, 1), HasSubstr("stage 0, entry 0, B0: comes before its forward pass"));
  EXPECT_THAT(error({"F0 W0 I0", "F0 B0"}, 1), HasSubstr("stage 0, entry 1, W0: comes before its gradient"));
  EXPECT_THAT(error({"F1 B1", "F0 B0"}, 1), HasSubstr("stage 0, entry 0, F1: no such micro-batch"));
  EXPECT_THAT(error({"F0.1 B0", "F0 B0"}, 1), HasSubstr("stage 0, entry 0, F0.1: no such chunk"));
}

TEST(ScheduleCheck, OrdersThatWaitForEachOtherAreNamed) {
  // Stage 0 sends 1 before 0, stage 1 takes 0 first.
  EXPECT_THAT(error({"F1 F0 B0 B1", "F0 F1 B0 B1"}, 2), HasSubstr("stage 0, entry 2, B0: can never run"));
  // Stage 0 wants the gradient of 0 before it has sent 1, and stage 1 wants 1 before it makes that gradient.
  EXPECT_THAT(error({"F0 B0 F1 B1", "F0 F1 B0 B1"}, 2), HasSubstr("its input is made by stage 1, entry 2, B0"));
}

TEST(SchedulePlacement, VGoesUpAndDownAgain) {
  const Placement v(ChunkPlacement::v, 3, 2);
  EXPECT_EQ(v.chunks_of(0), (std::vector<int>{0, 5}));
  EXPECT_EQ(v.chunks_of(2), (std::vector<int>{2, 3}));
  EXPECT_FALSE(v.crosses(2));
  EXPECT_TRUE(v.crosses(3));
  const Placement loop(ChunkPlacement::loop, 3, 2);
  EXPECT_EQ(loop.chunks_of(1), (std::vector<int>{1, 4}));
  for (std::int64_t chunk = 0; chunk < 6; ++chunk) {
    EXPECT_EQ(v.chunk_at(v.stage_of(chunk), v.local_of(chunk)), chunk);
    EXPECT_EQ(loop.chunk_at(loop.stage_of(chunk), loop.local_of(chunk)), chunk);
  }
}

}  // namespace
}  // namespace proteus::graph
