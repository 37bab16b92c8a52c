// SPDX-License-Identifier: Apache-2.0
#include "proteus/engine/simulation.hpp"

#include <gmock/gmock.h>

#include "unit/engine/fuzz_model.hpp"
#include "unit/engine/scripted_process.hpp"

namespace proteus::engine::testing {
namespace {

using ::testing::ElementsAre;

TEST(Simulation, StartsInAscendingOrderOfObjects) {
  std::vector<std::uint32_t> started;
  auto owner = std::make_shared<const Owners>(Owners{0, 0, 0});
  LocalEngine engine(0, owner, Time::picoseconds(1));
  for (std::uint32_t object : {2U, 0U, 1U}) {
    Script script;
    script.start = [object, &started](Scheduler& scheduler) {
      EXPECT_EQ(scheduler.now(), Time::zero());
      started.push_back(object);
    };
    engine.add(object, std::make_unique<ScriptedProcess>("p", script));
  }
  run_sequential(engine, {});
  EXPECT_THAT(started, ElementsAre(0, 1, 2));
}

TEST(Simulation, ZeroDelayChildrenFollowTheirParents) {
  std::vector<std::pair<std::uint32_t, std::uint16_t>> seen;  // instance and delta
  Script script;
  script.start = [](Scheduler& scheduler) {
    scheduler.schedule({.time_ps = 5, .delta = 77, .object = 99, .instance = 2});  // both are the scheduler's to set
    scheduler.schedule({.time_ps = 5, .instance = 1});
  };
  script.handle = [&seen](const Event& event, Scheduler& scheduler) {
    EXPECT_EQ(event.object, 0U);
    seen.emplace_back(event.instance, event.delta);
    if (event.instance == 1) scheduler.schedule({.time_ps = 5, .instance = 0});
    if (event.instance == 0) scheduler.schedule({.time_ps = 6, .instance = 3});
  };
  LocalEngine engine(0, std::make_shared<const Owners>(Owners{0}), Time::picoseconds(1));
  engine.add(0, std::make_unique<ScriptedProcess>("p", script));
  run_sequential(engine, {});
  EXPECT_THAT(seen, ElementsAre(std::pair(1, 0), std::pair(2, 0), std::pair(0, 1), std::pair(3, 0)));
  EXPECT_EQ(engine.statistics().events, 4U);
}

TEST(Simulation, PromisesAreAskedOnlyAfterEvents) {
  std::vector<int> asked(2, 0);
  Factory factory = [&asked](std::uint32_t object) {
    Script script;
    script.promise = [object, &asked] {
      ++asked[object];
      return Time::zero();
    };
    if (object == 0) {
      script.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 100}); };
      script.handle = [](const Event& event, Scheduler& scheduler) {
        if (event.time_ps < 1'000) scheduler.schedule({.time_ps = event.time_ps + 100});
      };
    }
    return std::make_unique<ScriptedProcess>("p", script);
  };
  auto engines = host_all(factory, {0, 0}, Time::picoseconds(1), 1);
  auto transport = make_in_process_transport(1);
  run_windows(engines, *transport, {});
  EXPECT_EQ(engines[0].statistics().windows, 10U);  // one an event: the process promises nothing
  EXPECT_THAT(asked, ElementsAre(11, 1));
}

TEST(Simulation, PromiseOfAllLetsAWindowRunThrough) {
  Factory factory = [](std::uint32_t) {
    Script script;
    script.promise = [] { return Time::infinity(); };
    script.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 100}); };
    script.handle = [](const Event& event, Scheduler& scheduler) {
      if (event.time_ps < 1'000) scheduler.schedule({.time_ps = event.time_ps + 100});
    };
    return std::make_unique<ScriptedProcess>("p", script);
  };
  auto engines = host_all(factory, {0, 1}, Time::picoseconds(1), 3);
  auto transport = make_in_process_transport(3);
  run_windows(engines, *transport, {});
  EXPECT_EQ(engines[0].statistics().windows, 1U);
  EXPECT_EQ(engines[1].statistics().events, 10U);
  EXPECT_EQ(engines[2].statistics().events, 0U);
}

TEST(Simulation, HooksSeeTheSameGrowingSequenceOnEveryRank) {
  FuzzModel model{.seed = 3, .processes = 8, .operations = 100};
  auto engines = host_all(factory_of(model), block_owners(8, 3), model.lookahead(), 3);
  std::vector<std::vector<std::int64_t>> seen(3);
  Hooks hooks;
  hooks.progress = [&engines](int rank) {
    return static_cast<std::int64_t>(engines[static_cast<std::size_t>(rank)].statistics().events / 50);
  };
  hooks.advanced = [&seen](int rank, std::int64_t agreed) { seen[static_cast<std::size_t>(rank)].push_back(agreed); };
  auto transport = make_in_process_transport(3);
  run_windows(engines, *transport, hooks);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
  ASSERT_GT(seen[0].size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(seen[0]));
  EXPECT_EQ(seen[0].back(), std::min({hooks.progress(0), hooks.progress(1), hooks.progress(2)}));
}

TEST(Simulation, SequentialHooksAreCalledOnTheWayAndAtTheEnd) {
  Script script;
  script.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 1}); };
  script.handle = [](const Event& event, Scheduler& scheduler) {
    if (event.time_ps < 200'000) scheduler.schedule({.time_ps = event.time_ps + 1});
  };
  LocalEngine engine(0, std::make_shared<const Owners>(Owners{0}), Time::picoseconds(1));
  engine.add(0, std::make_unique<ScriptedProcess>("p", script));
  std::vector<std::int64_t> seen;
  Hooks hooks;
  hooks.progress = [&engine](int) { return static_cast<std::int64_t>(engine.statistics().events); };
  hooks.advanced = [&seen](int, std::int64_t agreed) { seen.push_back(agreed); };
  run_sequential(engine, hooks);
  EXPECT_THAT(seen, ElementsAre(65'536, 131'072, 196'608, 200'000));
}

TEST(Simulation, CountsMessagesByWhereTheyGo) {
  FuzzModel model{.seed = 5, .processes = 10};
  auto one = host_all(factory_of(model), Owners(10, 0), model.lookahead(), 1);
  auto transport = make_in_process_transport(1);
  run_windows(one, *transport, {});
  auto many = host_all(factory_of(model), block_owners(10, 10), model.lookahead(), 10);
  transport = make_in_process_transport(10);
  run_windows(many, *transport, {});
  std::uint64_t remote = 0;
  for (const LocalEngine& engine : many) {
    EXPECT_EQ(engine.statistics().messages_local, 0U);
    remote += engine.statistics().messages_remote;
  }
  EXPECT_EQ(one[0].statistics().messages_remote, 0U);
  EXPECT_EQ(one[0].statistics().messages_local, remote);
}

/// What rank 0 hears if it asks every third time.
std::vector<std::vector<Pulse>> pulses_of(const Owners& owner, int ranks) {
  FuzzModel model{.seed = 2, .processes = 6, .promises = Promises::none};
  auto engines = host_all(factory_of(model), owner, model.lookahead(), ranks);
  std::vector<std::vector<Pulse>> heard;
  int asked = 0;
  Hooks hooks;
  hooks.pulse_due = [&asked] { return ++asked % 3 == 0; };
  hooks.rows = [](int rank) { return static_cast<std::uint64_t>(100 + rank); };
  hooks.pulse = [&heard](std::span<const Pulse> pulses) { heard.emplace_back(pulses.begin(), pulses.end()); };
  auto transport = make_in_process_transport(ranks);
  run_windows(engines, *transport, hooks);
  EXPECT_EQ(heard.size(), static_cast<std::size_t>(asked / 3));
  for (std::size_t rank = 0; rank < engines.size(); ++rank) {
    EXPECT_LE(heard.back()[rank].events, engines[rank].statistics().events);
    EXPECT_LE(heard.back()[rank].windows, engines[rank].statistics().windows);
  }
  return heard;
}

TEST(Simulation, PulsesTellHowFarEveryRankIs) {
  auto heard = pulses_of(block_owners(6, 3), 4);
  ASSERT_GT(heard.size(), 5U);
  for (std::size_t i = 0; i < heard.size(); ++i) {
    ASSERT_EQ(heard[i].size(), 4U);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(heard[i][rank].rows, 100 + rank);
      if (i == 0) continue;
      EXPECT_GE(heard[i][rank].now, heard[i - 1][rank].now);
      EXPECT_GE(heard[i][rank].events, heard[i - 1][rank].events);
      EXPECT_EQ(heard[i][rank].windows, heard[i - 1][rank].windows + 3);
    }
  }
  EXPECT_GT(heard.back()[0].events, heard.front()[0].events);
  EXPECT_EQ(heard.back()[3].events, 0U);  // an empty rank
}

TEST(Simulation, PulsesOfTheSequentialLoop) {
  // A tick every picosecond: more events than between two hooks.
  Script ticks;
  ticks.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 1}); };
  ticks.handle = [](const Event& event, Scheduler& scheduler) {
    if (event.time_ps < 200'000) scheduler.schedule({.time_ps = event.time_ps + 1});
  };
  LocalEngine engine(0, std::make_shared<const Owners>(Owners{0}), Time::picoseconds(1));
  engine.add(0, std::make_unique<ScriptedProcess>("p", ticks));
  std::vector<std::uint64_t> events;
  Hooks hooks;
  hooks.pulse_due = [] { return true; };
  hooks.pulse = [&events](std::span<const Pulse> pulses) { events.push_back(pulses.front().events); };
  run_sequential(engine, hooks);
  EXPECT_THAT(events, ElementsAre(65'536, 131'072, 196'608));
}

}  // namespace
}  // namespace proteus::engine::testing
