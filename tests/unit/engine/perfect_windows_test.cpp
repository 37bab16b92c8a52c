// SPDX-License-Identifier: Apache-2.0
#include "perfect_windows.hpp"

#include <gtest/gtest.h>

#include <random>

#include "local_engine.hpp"
#include "unit/engine/fuzz_model.hpp"
#include "unit/engine/scripted_process.hpp"

namespace proteus::engine::testing {
namespace {

struct Crossing {
  std::int64_t sent;
  std::int64_t arrival;
};

/// By the definition, from all messages.
std::uint64_t count_windows(const std::vector<Crossing>& crossings) {
  std::uint64_t windows = 1;
  std::int64_t bound = 0;
  while (true) {
    std::int64_t next = Time::infinity().ps();
    for (const Crossing& crossing : crossings) {
      if (crossing.sent >= bound) next = std::min(next, crossing.arrival);
    }
    if (next == Time::infinity().ps()) return windows;
    bound = next;
    ++windows;
  }
}

std::uint64_t count_by_ranks(const std::vector<std::vector<Crossing>>& by_rank) {
  std::vector<PerfectWindows> ranks(by_rank.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Crossing& c : by_rank[rank]) {
      ranks[rank].crossed(Time::picoseconds(c.sent), Time::picoseconds(c.arrival));
    }
  }
  while (true) {
    Time next = Time::infinity();
    for (const PerfectWindows& rank : ranks) next = std::min(next, rank.next());
    if (next.is_infinite()) return ranks[0].windows();
    for (PerfectWindows& rank : ranks) rank.advance(next);
  }
}

TEST(PerfectWindows, CountsByItsDefinition) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<Crossing>> by_rank(1 + random() % 4);
    std::vector<Crossing> all;
    for (auto& crossings : by_rank) {
      std::int64_t sent = 0;
      for (std::uint64_t i = random() % 60; i > 0; --i) {
        sent += static_cast<std::int64_t>(random() % 4);
        crossings.push_back({sent, sent + 1 + static_cast<std::int64_t>(random() % (2 + seed % 30))});
      }
      all.insert(all.end(), crossings.begin(), crossings.end());
    }
    EXPECT_EQ(count_by_ranks(by_rank), count_windows(all)) << "seed " << seed;
  }
}

TEST(PerfectWindows, OfTwoThatAskAndAnswer) {
  // Rank 0 asks at 100, 200, ..., 900 and is answered 10 later each time; a cautious promise needs more windows.
  auto windows = [](bool tight) {
    auto next = std::make_shared<std::int64_t>(100);
    Script asks;
    asks.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 100, .kind = 1}); };
    asks.handle = [next](const Event& event, Scheduler& scheduler) {
      if (event.kind != 1) return;
      scheduler.send({.time_ps = event.time_ps + 10, .object = 1});
      *next = event.time_ps < 900 ? event.time_ps + 100 : Time::infinity().ps();
      if (event.time_ps < 900) scheduler.schedule({.time_ps = *next, .kind = 1});
    };
    asks.promise = [next, tight] { return tight ? Time::picoseconds(*next) + Time::picoseconds(10) : Time::zero(); };
    Script answers;
    answers.handle = [](const Event& event, Scheduler& scheduler) {
      scheduler.send({.time_ps = event.time_ps + 10, .object = 0});
    };
    answers.promise = [] { return Time::infinity(); };
    Script ticks;  // on the rank of the first, so that cautious promises have something to be cautious about
    ticks.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 1}); };
    ticks.handle = [](const Event& event, Scheduler& scheduler) {
      if (event.time_ps < 950) scheduler.schedule({.time_ps = event.time_ps + 1});
    };
    ticks.promise = [tight] { return tight ? Time::infinity() : Time::zero(); };
    Factory factory = [&](std::uint32_t object) {
      return std::make_unique<ScriptedProcess>("p", object == 0 ? asks : object == 1 ? answers : ticks);
    };
    auto engines = host_all(factory, {0, 1, 0}, Time::picoseconds(10), 2);
    auto transport = make_in_process_transport(2);
    run_windows(engines, *transport, {});
    EXPECT_EQ(engines[0].statistics().perfect_windows, engines[1].statistics().perfect_windows);
    // Bounds at 110, 120, 210, ..., 920.
    EXPECT_EQ(engines[0].statistics().perfect_windows, 19U);
    return engines[0].statistics().windows;
  };
  // The engine cannot know that the first will not react to an answer: nine bounds more.
  EXPECT_EQ(windows(true), 28U);
  EXPECT_GT(windows(false), 50U);
}

TEST(PerfectWindows, AreNoMoreThanThoseOfAnyPromisesAndDoNotDependOnThem) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    std::vector<std::uint64_t> perfect;
    for (Promises promises : {Promises::tight, Promises::early, Promises::none}) {
      for (int events : {1, 1'000}) {
        FuzzModel model{.seed = seed, .processes = 9, .promises = promises};
        auto engines = host_all(factory_of(model), random_owners(9, 4, seed), model.lookahead(), 4);
        for (LocalEngine& engine : engines) {
          engine.implementation().options.budget = {.time = std::chrono::seconds(0), .events_between_looks = events};
        }
        auto transport = make_shuffling_transport(4, seed);
        run_windows(engines, *transport, {});
        perfect.push_back(engines[0].statistics().perfect_windows);
        EXPECT_LE(perfect.back(), engines[0].statistics().windows);
        EXPECT_EQ(perfect.back(), perfect.front());
      }
    }
    EXPECT_GT(perfect.front(), 1U);
  }
}

TEST(PerfectWindows, NobodyWithEventsNeedsNone) {
  auto engines = host_all([](std::uint32_t) { return std::make_unique<ScriptedProcess>("p", Script{}); }, {0},
                          Time::picoseconds(1), 2);
  auto transport = make_in_process_transport(2);
  run_windows(engines, *transport, {});
  EXPECT_EQ(engines[0].statistics().perfect_windows, 0U);
}

}  // namespace
}  // namespace proteus::engine::testing
