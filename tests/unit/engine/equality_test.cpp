// SPDX-License-Identifier: Apache-2.0
// One model, one hash: however it is cut, windowed, delayed or delivered.
#include <gtest/gtest.h>

#include <numeric>

#include "local_engine.hpp"
#include "unit/engine/fuzz_model.hpp"

namespace proteus::engine::testing {
namespace {

StateHash run(const FuzzModel& model, const Owners& owner, int ranks, Transport& transport,
              const EngineOptions& options = {}, const Hooks& hooks = {}) {
  auto engines = host_all(factory_of(model), owner, model.lookahead(), ranks, options);
  run_windows(engines, transport, hooks);
  return hash_of(engines);
}

StateHash run(const FuzzModel& model, const Owners& owner, int ranks) {
  auto transport = make_in_process_transport(ranks);
  return run(model, owner, ranks, *transport);
}

class Equality : public ::testing::TestWithParam<std::tuple<std::uint64_t, Promises>> {
 protected:
  FuzzModel model() const {
    std::uint64_t seed = std::get<0>(GetParam());
    return {.seed = seed,
            .processes = static_cast<std::uint32_t>(2 + mix64(seed) % 30),
            .promises = std::get<1>(GetParam())};
  }
  StateHash expected() const { return run_fuzz_sequential(model()); }
};

TEST_P(Equality, OnAnyNumberOfRanks) {
  StateHash hash = expected();
  std::uint32_t processes = model().processes;
  for (std::uint32_t ranks : {1U, 2U, 5U, 16U, processes, processes + 3}) {
    EXPECT_EQ(run(model(), block_owners(processes, ranks), static_cast<int>(ranks)), hash) << ranks << " ranks";
  }
}

TEST_P(Equality, UnderAnyPartition) {
  StateHash hash = expected();
  std::uint32_t processes = model().processes;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(run(model(), random_owners(processes, 4, seed), 4), hash) << "partition " << seed;
  }
  EXPECT_EQ(run(model(), Owners(processes, 2), 4), hash) << "all on rank 2";
  Owners backwards = block_owners(processes, processes);
  std::ranges::reverse(backwards);
  EXPECT_EQ(run(model(), backwards, static_cast<int>(processes)), hash) << "backwards";
}

TEST_P(Equality, OfTheEventsThatEachProcessHandles) {
  const std::uint32_t processes = model().processes;
  auto counted = [&](std::vector<LocalEngine>& engines) {
    std::vector<std::uint64_t> events(processes);
    std::uint64_t all = 0;
    for (const LocalEngine& engine : engines) {
      engine.count_events(events);
      all += engine.statistics().events;
    }
    EXPECT_EQ(std::accumulate(events.begin(), events.end(), std::uint64_t{0}), all);
    return events;
  };
  auto one = host_all(factory_of(model()), Owners(processes, 0), model().lookahead(), 1);
  run_sequential(one.front(), {});
  const std::vector<std::uint64_t> expected_events = counted(one);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto ranks = host_all(factory_of(model()), random_owners(processes, 4, seed), model().lookahead(), 4);
    auto transport = make_shuffling_transport(4, seed);
    run_windows(ranks, *transport, {});
    EXPECT_EQ(counted(ranks), expected_events);
  }
}

TEST_P(Equality, InAnyOrderOfDelivery) {
  StateHash hash = expected();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto transport = make_shuffling_transport(5, seed);
    EXPECT_EQ(run(model(), random_owners(model().processes, 5, seed), 5, *transport), hash) << "seed " << seed;
  }
}

TEST_P(Equality, WhereverARankBreaksOff) {
  StateHash hash = expected();
  for (int events : {1, 2, 7}) {
    for (const Budget& budget :
         {Budget{.time = std::chrono::seconds(0), .events_between_looks = events},
          Budget{.messages = 1, .events_between_looks = events}, Budget{.events = 3, .events_between_looks = events}}) {
      auto transport = make_in_process_transport(3);
      EXPECT_EQ(run(model(), block_owners(model().processes, 3), 3, *transport, {.budget = budget}), hash)
          << events << " events";
    }
  }
  // One rank after the other breaks off at random, and messages arrive in random order.
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto transport = make_shuffling_transport(4, seed);
    std::mt19937_64 random(seed);
    Hooks hooks;
    hooks.full = [&random](int rank) { return random() % 4 == static_cast<std::uint64_t>(rank); };
    EngineOptions options{.budget = {.events_between_looks = 1}};
    EXPECT_EQ(run(model(), random_owners(model().processes, 4, seed), 4, *transport, options, hooks), hash);
  }
}

TEST_P(Equality, WithAnyQueue) {
  StateHash hash = expected();
  EngineOptions options{.queue = QueueKind::binary};
  auto transport = make_in_process_transport(3);
  EXPECT_EQ(run(model(), block_owners(model().processes, 3), 3, *transport, options), hash);
  auto engines = host_all(factory_of(model()), Owners(model().processes, 0), model().lookahead(), 1, options);
  run_sequential(engines[0], {});
  EXPECT_EQ(hash_of(engines), hash);
}

TEST(Budgets, EndWindowsWhereTheySay) {
  auto windows = [](const Budget& budget) {
    FuzzModel model{.seed = 3, .processes = 6};
    auto engines = host_all(factory_of(model), block_owners(6, 2), model.lookahead(), 2, {.budget = budget});
    auto transport = make_in_process_transport(2);
    run_windows(engines, *transport, {});
    // The events of the busier rank.
    std::uint64_t events = std::max(engines[0].statistics().events, engines[1].statistics().events);
    std::uint64_t messages = std::max(engines[0].statistics().messages_remote, engines[1].statistics().messages_remote);
    return std::tuple(engines[0].statistics().windows, events, messages);
  };
  auto [unlimited, events, messages] = windows({});
  EXPECT_LT(unlimited, events / 2);
  EXPECT_GE(std::get<0>(windows({.events = 1, .events_between_looks = 1})), events);
  EXPECT_GE(std::get<0>(windows({.messages = 1, .events_between_looks = 1})), messages);
  EXPECT_GE(std::get<0>(windows({.time = std::chrono::seconds(0), .events_between_looks = 1})), events);
}

TEST_P(Equality, HasWorkToCompare) {
  auto engines = host_all(factory_of(model()), block_owners(model().processes, 2), model().lookahead(), 2);
  auto transport = make_in_process_transport(2);
  run_windows(engines, *transport, {});
  std::uint64_t events = 0;
  std::uint64_t remote = 0;
  for (const LocalEngine& engine : engines) {
    events += engine.statistics().events;
    remote += engine.statistics().messages_remote;
    EXPECT_GT(engine.statistics().windows, 1U);
  }
  EXPECT_GT(events, 60U * model().processes);
  EXPECT_GT(remote, 5U);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Equality,
                         ::testing::Combine(::testing::Range<std::uint64_t>(1, 13),
                                            ::testing::Values(Promises::tight, Promises::early, Promises::none)));

TEST(FuzzModel, DependsOnItsSeedAndItsOrder) {
  EXPECT_FALSE(run_fuzz_sequential({.seed = 1}) == run_fuzz_sequential({.seed = 2}));
  EXPECT_FALSE(run_fuzz_sequential({.operations = 60}) == run_fuzz_sequential({.operations = 61}));
}

TEST(FuzzModel, TightPromisesNeedFewerWindows) {
  auto windows = [](Promises promises) {
    FuzzModel model{.seed = 4, .processes = 6, .operations = 200, .promises = promises};
    auto engines = host_all(factory_of(model), block_owners(6, 2), model.lookahead(), 2);
    auto transport = make_in_process_transport(2);
    run_windows(engines, *transport, {});
    return engines[0].statistics().windows;
  };
  EXPECT_LT(windows(Promises::tight), windows(Promises::none));
}

}  // namespace
}  // namespace proteus::engine::testing
