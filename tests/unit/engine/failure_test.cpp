// SPDX-License-Identifier: Apache-2.0
// Whatever goes wrong ends the run, on every rank, with the name of what went wrong.
#include <gmock/gmock.h>

#include "local_engine.hpp"
#include "proteus/base/error.hpp"
#include "unit/engine/hosting.hpp"
#include "unit/engine/scripted_process.hpp"

namespace proteus::engine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Time kDelay = Time::picoseconds(10);

Factory factory_of(const std::vector<Script>& scripts) {
  return [scripts](std::uint32_t object) {
    return std::make_unique<ScriptedProcess>("island " + std::to_string(object), scripts[object]);
  };
}

template <typename Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "no SimulationError";
}

const EngineOptions kNamed{.name_of = [](std::uint32_t object) { return "island " + std::to_string(object); }};

std::string error_in_windows(const std::vector<Script>& scripts, const Owners& owner, int ranks,
                             const Hooks& hooks = {}) {
  return error_of([&] {
    auto engines = host_all(factory_of(scripts), owner, kDelay, ranks, kNamed);
    auto transport = make_in_process_transport(ranks);
    run_windows(engines, *transport, hooks);
  });
}

std::string error_in_sequence(const std::vector<Script>& scripts) {
  return error_of([&] {
    auto engines = host_all(factory_of(scripts), Owners(scripts.size(), 0), kDelay, 1);
    run_sequential(engines[0], {});
  });
}

/// Schedules one event for itself and does something in it.
Script at(std::int64_t time, std::function<void(Scheduler&)> action) {
  Script script;
  script.start = [time](Scheduler& scheduler) { scheduler.schedule({.time_ps = time}); };
  script.handle = [action](const Event&, Scheduler& scheduler) { action(scheduler); };
  return script;
}

Script stuck(std::vector<std::string> lines) {
  Script script;
  script.finished = [] { return false; };
  script.promise = [] { return Time::infinity(); };
  script.blocked = std::move(lines);
  return script;
}

const std::vector<std::pair<Owners, int>> kPartitions{{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}, {{2, 2}, 4}};

TEST(Failure, BrokenPromiseNamesTheProcessOnAnyPartition) {
  Script liar = at(100, [](Scheduler& scheduler) { scheduler.send({.time_ps = 120, .object = 1}); });
  liar.promise = [] { return Time::picoseconds(500); };
  Script busy;
  busy.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 400}); };
  busy.promise = [] { return Time::infinity(); };
  for (const auto& [owner, ranks] : kPartitions) {
    EXPECT_THAT(error_in_windows({liar, busy}, owner, ranks),
                HasSubstr("island 0 at 0.000000000100 s: breaks its promise: sends a message to island 1 for "
                          "0.000000000120 s, but promised 0.000000000500 s"));
  }
  EXPECT_EQ(error_in_sequence({liar, busy}), "no SimulationError");  // nobody asks for promises there
}

TEST(Failure, BrokenPromiseIsCaughtEvenIfNoWindowPassedIt) {
  // The other process holds the window back, so that the message would still come in time.
  Script liar = at(100, [](Scheduler& scheduler) { scheduler.send({.time_ps = 120, .object = 1}); });
  liar.promise = [] { return Time::picoseconds(500); };
  Script cautious;
  cautious.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 95}); };
  cautious.promise = [] { return Time::picoseconds(105); };
  for (const auto& [owner, ranks] : kPartitions) {
    EXPECT_THAT(error_in_windows({liar, cautious}, owner, ranks), HasSubstr("island 0 at 0.000000000100 s: breaks"));
  }
}

TEST(Failure, PromiseTakenBackIsBroken) {
  // Between the two events the rank breaks off and asks again: what others did on the first promise stays done.
  auto handled = std::make_shared<int>(0);
  Script liar;
  liar.start = [](Scheduler& scheduler) {
    scheduler.schedule({.time_ps = 100});
    scheduler.schedule({.time_ps = 105});
  };
  liar.handle = [handled](const Event&, Scheduler& scheduler) {
    if (++*handled == 2) scheduler.send({.time_ps = 120, .object = 1});
  };
  liar.promise = [handled] { return Time::picoseconds(*handled == 0 ? 500 : 120); };
  Script busy;
  busy.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 400}); };
  busy.promise = [] { return Time::infinity(); };
  auto engines = host_all(factory_of({liar, busy}), {0, 1}, kDelay, 2);
  engines[0].implementation().options.budget = {.time = std::chrono::seconds(0), .events_between_looks = 1};
  auto transport = make_in_process_transport(2);
  EXPECT_THAT(error_of([&] { run_windows(engines, *transport, {}); }),
              AllOf(HasSubstr("island 0 at 0.000000000105 s: breaks"), HasSubstr("before 0.000000000500 s")));
}

TEST(Failure, PromiseEndsWhereAMessageArrives) {
  // Promises only speak of what happens without further messages: an answer may come before them.
  Script asks = at(100, [](Scheduler& scheduler) {
    if (scheduler.now() == Time::picoseconds(100)) scheduler.send({.time_ps = 110, .object = 1});
  });
  asks.promise = [] { return Time::picoseconds(110); };
  Script answers;
  answers.promise = [] { return Time::infinity(); };
  answers.handle = [](const Event&, Scheduler& scheduler) { scheduler.send({.time_ps = 120, .object = 0}); };
  for (const auto& [owner, ranks] : kPartitions) {
    EXPECT_EQ(error_in_windows({asks, answers}, owner, ranks), "no SimulationError");
  }
}

TEST(Failure, SendsAndSchedulesAreChecked) {
  auto error = [](std::function<void(Scheduler&)> action) {
    std::vector<Script> scripts{at(100, action), Script{}};
    std::string text = error_in_sequence(scripts);
    EXPECT_EQ(error_in_windows(scripts, {0, 0}, 1), text);
    return text;
  };
  EXPECT_THAT(error([](Scheduler& s) { s.schedule({.time_ps = 99}); }),
              AllOf(HasSubstr("island 0"), HasSubstr("in the past"), HasSubstr("0.000000000099 s")));
  EXPECT_THAT(error([](Scheduler& s) { s.send({.time_ps = 100, .object = 1}); }),
              AllOf(HasSubstr("island 0"), HasSubstr("shortest delay")));
  EXPECT_THAT(error([](Scheduler& s) { s.send({.time_ps = 109, .object = 1}); }), HasSubstr("shortest delay"));
  EXPECT_THAT(error([](Scheduler& s) { s.send({.time_ps = 200, .object = 2}); }), HasSubstr("logical process 2"));
  EXPECT_THAT(error([](Scheduler& s) { s.schedule({.time_ps = Time::infinity().ps()}); }), HasSubstr("where it ends"));
  EXPECT_THAT(error([](Scheduler& s) { s.schedule({.time_ps = s.now().ps()}); }), HasSubstr("without delay"));
  EXPECT_EQ(error([](Scheduler& s) { s.send({.time_ps = 110, .object = 1}); }), "no SimulationError");
}

TEST(Failure, DeadlockTextIsTheSameOnAnyPartition) {
  std::vector<Script> scripts{at(70, [](Scheduler&) {}), stuck({"device 3 waits for island 2", "device 4 too"}),
                              stuck({})};
  std::string text = error_in_sequence(scripts);
  EXPECT_EQ(text,
            "deadlock at 0.000000000070 s: no events are left, but 2 of 3 logical processes are not finished\n"
            "  island 1: device 3 waits for island 2\n"
            "  island 1: device 4 too\n"
            "  island 2: not finished");
  EXPECT_EQ(error_in_windows(scripts, {0, 0, 0}, 1), text);
  EXPECT_EQ(error_in_windows(scripts, {0, 1, 2}, 3), text);
  EXPECT_EQ(error_in_windows(scripts, {3, 2, 0}, 5), text);
}

TEST(Failure, DeadlockTextIsCutAfterTwentyLines) {
  std::vector<Script> scripts(50, stuck({"waits"}));
  std::string text = error_in_sequence(scripts);
  EXPECT_THAT(text, AllOf(HasSubstr("island 19: waits\n  ... and 30 more"), Not(HasSubstr("island 20"))));
  EXPECT_EQ(error_in_windows(scripts, random_owners(50, 4, 1), 4), text);
}

/// Waits at `place` for a place of another process; nobody is there where that is nothing.
Script waits(std::uint64_t place, std::optional<WaitPlace> next, std::string holds = "") {
  Script script = stuck({"waits"});
  script.first_wait = place;
  script.wait_at = [next, holds](std::uint64_t at) {
    return WaitLink{"place " + std::to_string(at), "waits", holds, next};
  };
  return script;
}

/// What stands between the first line and the list of all that is stuck.
std::string chain_of(const std::vector<Script>& scripts) {
  const std::string text = error_in_sequence(scripts);
  const auto objects = static_cast<std::uint32_t>(scripts.size());
  EXPECT_EQ(error_in_windows(scripts, Owners(scripts.size(), 0), 1), text);
  EXPECT_EQ(error_in_windows(scripts, random_owners(objects, 3, 5), 3), text);
  EXPECT_EQ(error_in_windows(scripts, block_owners(objects, objects), static_cast<int>(objects) + 1), text);
  const std::size_t begin = text.find('\n');
  const std::size_t end = text.find("\n  all that is stuck:");
  return end == std::string::npos ? "no chain" : text.substr(begin + 1, end - begin - 1);
}

TEST(WaitChain, EndsWithWhatNeverComes) {
  Script ended;
  ended.wait_at = [](std::uint64_t) { return WaitLink{"place 1", "has ended", "", std::nullopt}; };
  EXPECT_EQ(chain_of({ended, waits(7, WaitPlace{2, 3}), waits(3, WaitPlace{0, 1})}),
            "  the chain of waits ends with what never comes:\n"
            "    place 7: waits\n"
            "    -> place 3: waits\n"
            "    -> place 1: has ended");
}

TEST(WaitChain, CirclesAreToldFromTheirSmallestPlaceWithoutTheWayThere) {
  EXPECT_EQ(chain_of({waits(7, WaitPlace{2, 1}), waits(5, WaitPlace{3, 1}, "b"), waits(1, WaitPlace{3, 1}),
                      waits(1, WaitPlace{1, 5}, "a")}),
            "  everybody in this circle waits for the next:\n"
            "    place 5: waits\n"
            "    -> place 1: waits\n"
            "    -> place 5, where the chain began\n"
            "  they come to these in different orders:\n"
            "    place 5 is in b\n"
            "    place 1 is in a");
}

TEST(WaitChain, LongOnesAreCut) {
  std::vector<Script> scripts;
  for (std::uint32_t i = 0; i < 100; ++i) {
    scripts.push_back(waits(i, i + 1 < 100 ? std::optional(WaitPlace{i + 1, i + 1}) : std::nullopt));
  }
  EXPECT_THAT(chain_of(scripts),
              AllOf(HasSubstr("place 19: waits\n    ... and 61 more\n    -> place 81: waits\n"),
                    HasSubstr("place 99: waits"), Not(HasSubstr("place 20:")), Not(HasSubstr("place 80:"))));
}

TEST(WaitChain, AProcessThatFailsToTellEndsIt) {
  Script broken = waits(0, std::nullopt);
  broken.wait_at = [](std::uint64_t) -> WaitLink { throw std::runtime_error("no idea"); };
  EXPECT_THAT(chain_of({broken}), HasSubstr("island 0: cannot tell what it waits for: no idea"));
}

TEST(Failure, ExceptionOnOneRankStopsAll) {
  int handled = 0;
  Script forever = at(10, [&handled](Scheduler& scheduler) {
    ++handled;
    scheduler.schedule({.time_ps = scheduler.now().ps() + 10});
  });
  forever.promise = [] { return Time::zero(); };
  Script breaks = at(1'000, [](Scheduler&) { throw std::runtime_error("no such link"); });
  std::string text = error_in_windows({forever, breaks, forever}, {0, 1, 2}, 3);
  EXPECT_EQ(text, "rank 1: island 1 at 0.000000001000 s: no such link");
  EXPECT_GT(handled, 100);
  EXPECT_LT(handled, 300);
}

TEST(Failure, TheEarliestOfSeveralIsTold) {
  Script late = at(15, [](Scheduler&) { throw std::runtime_error("late"); });
  Script early = at(12, [](Scheduler&) { throw 1; });
  std::string text = error_in_windows({late, early, late}, {0, 1, 2}, 3);
  EXPECT_EQ(text, "rank 1: island 1 at 0.000000000012 s: unknown exception (the first of 3 ranks that failed)");
}

TEST(Failure, AtTheStartAndInPromisesAndInTheReportCountsToo) {
  Script start;
  start.start = [](Scheduler&) { throw std::runtime_error("bad start"); };
  EXPECT_THAT(error_in_windows({Script{}, start}, {0, 1}, 2), HasSubstr("island 1 at 0.000000000000 s: bad start"));
  Script promise = at(5, [](Scheduler&) {});
  promise.promise = []() -> Time { throw std::runtime_error("bad promise"); };
  EXPECT_THAT(error_in_windows({promise, Script{}}, {0, 1}, 2), HasSubstr("bad promise"));
  Script finished;
  finished.finished = []() -> bool { throw std::runtime_error("bad end"); };
  EXPECT_THAT(error_in_windows({Script{}, finished}, {0, 1}, 2), HasSubstr("rank 1: bad end"));
}

TEST(Failure, OutputErrorsOfHooksKeepTheirKind) {
  Hooks hooks;
  hooks.advanced = [](int rank, std::int64_t) {
    if (rank == 1) throw OutputError("disk full");
  };
  auto engines = host_all(factory_of({Script{}, Script{}}), {0, 1}, kDelay, 2);
  auto transport = make_in_process_transport(2);
  EXPECT_THROW(run_windows(engines, *transport, hooks), OutputError);
}

TEST(Failure, AStopOfOneRankIsAStopOfTheRun) {
  Hooks hooks;
  hooks.progress = [](int rank) -> std::int64_t {
    if (rank == 1) throw StoppedError("asked to");
    return 0;
  };
  auto engines = host_all(factory_of({Script{}, Script{}}), {0, 1}, kDelay, 2);
  auto transport = make_in_process_transport(2);
  EXPECT_THROW(run_windows(engines, *transport, hooks), StoppedError);
}

TEST(Failure, OfAPulseStopsAll) {
  Hooks hooks;
  hooks.pulse_due = [] { return true; };
  hooks.pulse = [](std::span<const Pulse>) { throw std::runtime_error("no terminal"); };
  std::vector<Script> scripts(2, at(50, [](Scheduler&) {}));
  EXPECT_THAT(error_in_windows(scripts, {0, 1}, 2, hooks), HasSubstr("rank 0: no terminal"));
  hooks.pulse = nullptr;
  hooks.rows = [](int rank) -> std::uint64_t {
    if (rank == 1) throw std::runtime_error("no rows");
    return 0;
  };
  EXPECT_THAT(error_in_windows(scripts, {0, 1}, 2, hooks), HasSubstr("rank 1: no rows"));
}

TEST(Failure, HostingIsChecked) {
  auto owner = std::make_shared<const Owners>(Owners{0, 1, 0});
  auto process = [] { return std::make_unique<ScriptedProcess>("p", Script{}); };
  LocalEngine engine(0, owner, kDelay);
  engine.add(0, process());
  EXPECT_THROW(engine.add(1, process()), std::invalid_argument);
  EXPECT_THROW(engine.add(3, process()), std::invalid_argument);
  EXPECT_THROW(engine.add(2, nullptr), std::invalid_argument);
  EXPECT_THROW(LocalEngine(0, owner, Time::zero()), std::invalid_argument);
  EXPECT_THAT(error_of([&] { run_sequential(engine, {}); }), HasSubstr("needs all 3"));
  auto transport = make_in_process_transport(1);
  EXPECT_THAT(error_of([&] { run_windows({&engine, 1}, *transport, {}); }), HasSubstr("there are 1 ranks"));
}

}  // namespace
}  // namespace proteus::engine::testing
