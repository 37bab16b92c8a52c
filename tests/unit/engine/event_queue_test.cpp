// SPDX-License-Identifier: Apache-2.0
#include "event_queue.hpp"

#include <gtest/gtest.h>

#include <queue>
#include <random>

#include "proteus/base/error.hpp"

namespace proteus::engine {
namespace {

struct Later {
  bool operator()(const Event& a, const Event& b) const { return b < a; }
};
using Reference = std::priority_queue<Event, std::vector<Event>, Later>;

bool same(const Event& a, const Event& b) { return !(a < b) && !(b < a) && a.payload == b.payload; }

/// Keys are unique (member counts), times tie as often as `spread` says.
class QueueAgainstReference : public ::testing::TestWithParam<std::tuple<QueueKind, std::int64_t>> {};

TEST_P(QueueAgainstReference, PopsTheSameOrder) {
  const auto [kind, spread] = GetParam();
  std::mt19937_64 random(static_cast<std::uint64_t>(spread));
  EventQueue heap(kind);
  Reference reference;
  std::uint32_t pushed = 0;
  auto push = [&](std::int64_t time, int delta) {
    Event event{.time_ps = time,
                .delta = static_cast<std::uint16_t>(delta),
                .priority = static_cast<std::uint8_t>(random() % 3),
                .object = static_cast<std::uint32_t>(random() % 5),
                .instance = static_cast<std::uint32_t>(random() % 4),
                .member = ++pushed,
                .payload = random()};
    heap.push(event);
    reference.push(event);
  };
  auto delay = [&, most = static_cast<std::uint64_t>(spread)] { return static_cast<std::int64_t>(random() % most); };
  for (int i = 0; i < 500; ++i) push(delay(), 0);
  while (!reference.empty()) {
    ASSERT_FALSE(heap.empty());
    ASSERT_TRUE(same(heap.top(), reference.top()));
    Event event = heap.pop();
    ASSERT_TRUE(same(event, reference.top()));
    reference.pop();
    if (pushed > 20'000) continue;
    std::uint64_t children = random() % 3;
    for (std::uint64_t child = 0; child < children; ++child) {
      std::int64_t after = delay();
      push(event.time_ps + after, after == 0 ? event.delta + 1 : 0);
    }
  }
  EXPECT_TRUE(heap.empty());
  EXPECT_GE(pushed, 500U);
}

INSTANTIATE_TEST_SUITE_P(Spreads, QueueAgainstReference,
                         ::testing::Combine(::testing::Values(QueueKind::radix, QueueKind::binary),
                                            ::testing::Values(1, 2, 3, 10, 1'000, 1'000'000, std::int64_t{1} << 40,
                                                              std::int64_t{1} << 44)));

class Queue : public ::testing::TestWithParam<QueueKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Queue, ::testing::Values(QueueKind::radix, QueueKind::binary));

TEST_P(Queue, PeekDoesNotMoveTheInstant) {
  EventQueue heap(GetParam());
  heap.push({.time_ps = 1'000});
  EXPECT_EQ(heap.top().time_ps, 1'000);
  heap.push({.time_ps = 10});
  EXPECT_EQ(heap.top().time_ps, 10);
  heap.push({.time_ps = 0});
  EXPECT_EQ(heap.pop().time_ps, 0);
  EXPECT_EQ(heap.top().time_ps, 10);
  heap.push({.time_ps = 5});
  EXPECT_EQ(heap.pop().time_ps, 5);
  EXPECT_EQ(heap.pop().time_ps, 10);
  EXPECT_EQ(heap.pop().time_ps, 1'000);
}

TEST_P(Queue, ThrowsOnEventsBeforeTheLastOne) {
  EventQueue heap(GetParam());
  heap.push({.time_ps = 100, .delta = 2, .object = 7});
  heap.pop();
  EXPECT_THROW(heap.push({.time_ps = 99}), SimulationError);
  EXPECT_THROW(heap.push({.time_ps = 100, .delta = 1}), SimulationError);
  EXPECT_THROW(heap.push({.time_ps = 100, .delta = 2, .object = 6}), SimulationError);
  EXPECT_THROW(EventQueue(GetParam()).push({.time_ps = -1}), SimulationError);
  EXPECT_TRUE(heap.empty());
  heap.push({.time_ps = 100, .delta = 2, .object = 8});
  EXPECT_EQ(heap.pop().object, 8U);
}

TEST_P(Queue, HoldsTheWholeRangeOfTimes) {
  EventQueue heap(GetParam());
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t time : {kLast, kLast - 1, std::int64_t{1} << 62, std::int64_t{0}}) heap.push({.time_ps = time});
  EXPECT_EQ(heap.pop().time_ps, 0);
  EXPECT_EQ(heap.pop().time_ps, std::int64_t{1} << 62);
  EXPECT_EQ(heap.pop().time_ps, kLast - 1);
  EXPECT_EQ(heap.pop().time_ps, kLast);
}

}  // namespace
}  // namespace proteus::engine
