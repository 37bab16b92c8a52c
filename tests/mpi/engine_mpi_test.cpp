// SPDX-License-Identifier: Apache-2.0
// Run with any number of ranks, one included: mpirun -n N engine_mpi_test.
#include <gmock/gmock.h>

#include <numeric>

#include "../unit/engine/fuzz_model.hpp"
#include "../unit/engine/scripted_process.hpp"
#include "proteus/base/error.hpp"
#include "proteus/engine/mpi_transport.hpp"

namespace proteus::engine::testing {
namespace {

using ::testing::HasSubstr;

int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

StateHash sum_over_ranks(StateHash hash) {
  std::uint64_t lanes[2]{hash.high, hash.low};
  MPI_Allreduce(MPI_IN_PLACE, lanes, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {.high = lanes[0], .low = lanes[1]};
}

StateHash run(const FuzzModel& model, const Owners& owner, MpiExchange exchange) {
  auto transport = make_mpi_transport(MPI_COMM_WORLD, std::nullopt, exchange);
  LocalEngine engine = host(factory_of(model), std::make_shared<const Owners>(owner), model.lookahead(), rank());
  run_windows({&engine, 1}, *transport, {});
  return sum_over_ranks(hash_of({&engine, 1}));
}

constexpr MpiExchange kExchanges[]{MpiExchange::automatic, MpiExchange::all_to_all, MpiExchange::neighbours,
                                   MpiExchange::sparse};

class EqualityOverMpi : public ::testing::TestWithParam<std::tuple<std::uint64_t, MpiExchange>> {};

TEST_P(EqualityOverMpi, EqualsTheSequentialLoop) {
  const auto [seed, exchange] = GetParam();
  auto count = static_cast<std::uint32_t>(ranks());
  for (Promises promises : {Promises::tight, Promises::early, Promises::none}) {
    FuzzModel model{.seed = seed, .processes = 14, .promises = promises};
    StateHash expected = run_fuzz_sequential(model);
    EXPECT_EQ(run(model, block_owners(model.processes, count), exchange), expected);
    EXPECT_EQ(run(model, random_owners(model.processes, count, seed), exchange), expected);
    EXPECT_EQ(run(model, Owners(model.processes, count - 1), exchange), expected) << "empty ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, EqualityOverMpi,
                         ::testing::Combine(::testing::Range<std::uint64_t>(1, 6), ::testing::ValuesIn(kExchanges)));

TEST(EngineOverMpi, CountsTheSamePerfectWindowsAsVirtualRanks) {
  FuzzModel model{.seed = 3, .processes = 14};
  Owners owner = random_owners(model.processes, static_cast<std::uint32_t>(ranks()), 5);
  auto virtual_ranks = host_all(factory_of(model), owner, model.lookahead(), ranks());
  auto in_process = make_in_process_transport(ranks());
  run_windows(virtual_ranks, *in_process, {});
  for (MpiExchange exchange : kExchanges) {
    LocalEngine engine = host(factory_of(model), std::make_shared<const Owners>(owner), model.lookahead(), rank());
    auto transport = make_mpi_transport(MPI_COMM_WORLD, std::nullopt, exchange);
    run_windows({&engine, 1}, *transport, {});
    EXPECT_EQ(engine.statistics().windows, virtual_ranks[0].statistics().windows);
    EXPECT_EQ(engine.statistics().perfect_windows, virtual_ranks[0].statistics().perfect_windows);
  }
}

TEST(EngineOverMpi, PulsesReachRankZeroOnly) {
  for (MpiExchange exchange : kExchanges) {
    FuzzModel model{.seed = 3, .processes = 14, .promises = Promises::none};
    auto owner = std::make_shared<const Owners>(block_owners(model.processes, static_cast<std::uint32_t>(ranks())));
    LocalEngine engine = host(factory_of(model), owner, model.lookahead(), rank());
    int asked = 0;
    int heard = 0;
    Hooks hooks;
    hooks.pulse_due = [&asked] { return ++asked % 2 == 0; };
    hooks.rows = [](int of) { return static_cast<std::uint64_t>(10 + of); };
    hooks.pulse = [&heard](std::span<const Pulse> pulses) {
      ++heard;
      EXPECT_EQ(pulses.size(), static_cast<std::size_t>(ranks()));
      for (std::size_t of = 0; of < pulses.size(); ++of) EXPECT_EQ(pulses[of].rows, 10 + of);
    };
    auto transport = make_mpi_transport(MPI_COMM_WORLD, std::nullopt, exchange);
    run_windows({&engine, 1}, *transport, hooks);
    EXPECT_EQ(asked > 0, rank() == 0);
    EXPECT_EQ(heard, asked / 2);
    EXPECT_EQ(heard > 2, rank() == 0);
  }
}

/// Runs `last` on the last rank and, with more than one rank, `other` on all others; the text of the error here.
std::string error_of(const Script& last, const Script& other) {
  auto count = static_cast<std::uint32_t>(ranks());
  auto owner = std::make_shared<const Owners>(block_owners(count, count));
  Factory factory = [&](std::uint32_t object) {
    return std::make_unique<ScriptedProcess>("island " + std::to_string(object), object + 1 == count ? last : other);
  };
  LocalEngine engine = host(factory, owner, Time::picoseconds(10), rank());
  auto transport = make_mpi_transport(MPI_COMM_WORLD);
  try {
    run_windows({&engine, 1}, *transport, {});
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "no SimulationError";
}

TEST(EngineOverMpi, ExceptionOnOneRankStopsAll) {
  Script forever;
  forever.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 10}); };
  forever.handle = [](const Event& event, Scheduler& scheduler) {
    scheduler.schedule({.time_ps = event.time_ps + 10});
  };
  Script breaks;
  breaks.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 1'000}); };
  breaks.handle = [](const Event&, Scheduler&) { throw std::runtime_error("no such link"); };
  std::string name = "island " + std::to_string(ranks() - 1);
  EXPECT_THAT(error_of(breaks, forever), HasSubstr(name + " at 0.000000001000 s: no such link"));
}

TEST(EngineOverMpi, DeadlockIsToldOnEveryRank) {
  Script stuck;
  stuck.finished = [] { return false; };
  stuck.blocked = {"waits for a device"};
  std::string name = "island " + std::to_string(ranks() - 1);
  EXPECT_THAT(error_of(stuck, Script{}), HasSubstr("\n  " + name + ": waits for a device"));
}

TEST(EngineOverMpi, AChainOfWaitsGoesFromRankToRank) {
  const auto count = static_cast<std::uint32_t>(ranks());
  auto owner = std::make_shared<const Owners>(block_owners(count, count));
  Factory factory = [&](std::uint32_t object) {
    Script stuck;
    stuck.finished = [] { return false; };
    stuck.first_wait = object;
    stuck.wait_at = [object, count](std::uint64_t place) {
      const std::uint32_t next = (object + 1) % count;
      return WaitLink{"place " + std::to_string(place), "waits", "", WaitPlace{next, next}};
    };
    return std::make_unique<ScriptedProcess>("island", stuck);
  };
  std::string expected = "\n  everybody in this circle waits for the next:\n    place 0: waits";
  for (std::uint32_t object = 1; object < count; ++object) {
    expected += "\n    -> place " + std::to_string(object) + ": waits";
  }
  expected += "\n    -> place 0, where the chain began\n  all that is stuck:";
  LocalEngine engine = host(factory, owner, Time::picoseconds(10), rank());
  auto transport = make_mpi_transport(MPI_COMM_WORLD);
  try {
    run_windows({&engine, 1}, *transport, {});
    FAIL() << "no SimulationError";
  } catch (const SimulationError& error) {
    EXPECT_THAT(error.what(), HasSubstr(expected));
  }
}

class MpiTransport : public ::testing::TestWithParam<MpiExchange> {};
INSTANTIATE_TEST_SUITE_P(Exchanges, MpiTransport, ::testing::ValuesIn(kExchanges));

/// A mailbox with `count` messages for each of `destinations`.
Mailbox mailbox_for(const std::vector<int>& destinations, std::uint32_t count) {
  Mailbox box;
  box.rank = rank();
  box.out.resize(static_cast<std::size_t>(ranks()));
  for (int destination : destinations) {
    for (std::uint32_t i = 0; i < count; ++i) {
      box.out[static_cast<std::size_t>(destination)].push_back({{.object = static_cast<std::uint32_t>(destination),
                                                                 .instance = static_cast<std::uint32_t>(rank()),
                                                                 .member = i}});
    }
  }
  return box;
}

TEST_P(MpiTransport, DeliversToNeighboursWhateverTheirNumber) {
  // Each rank sends to the next two; how many messages changes from round to round, and some ranks have none.
  std::vector<int> next;
  std::vector<int> last;
  for (int step : {1, 2}) {
    if (step >= ranks()) break;
    next.push_back((rank() + step) % ranks());
    last.push_back((rank() + ranks() - step) % ranks());
  }
  auto transport = make_mpi_transport(MPI_COMM_WORLD, next, GetParam());
  const std::uint32_t counts[]{0, 1, 101, 102, 103, 5'000, 0, 7};
  auto count_of = [&counts](int of, std::size_t round) {
    return counts[(round + static_cast<std::size_t>(of) * 3) % std::size(counts)];
  };
  for (std::size_t round = 0; round < 40; ++round) {
    Mailbox box = mailbox_for(next, count_of(rank(), round));
    box.promise = Time::picoseconds(static_cast<std::int64_t>(round) * 10 + (rank() + 1) % ranks());
    box.crossing = Time::picoseconds(static_cast<std::int64_t>(round) + ranks() - rank());
    box.progress = static_cast<std::int64_t>(round) - rank();
    box.pulse = round == 7 && rank() == 0;
    const Agreement agreement = transport->exchange({&box, 1});
    EXPECT_EQ(agreement.bound, Time::picoseconds(static_cast<std::int64_t>(round) * 10));
    EXPECT_EQ(agreement.crossing, Time::picoseconds(static_cast<std::int64_t>(round) + 1));
    EXPECT_EQ(agreement.progress, static_cast<std::int64_t>(round) - ranks() + 1);
    EXPECT_EQ(agreement.pulse, round == 7);
    EXPECT_FALSE(agreement.failed);
    std::vector<std::uint32_t> expected(static_cast<std::size_t>(ranks()), 0);
    for (int source : last) expected[static_cast<std::size_t>(source)] = count_of(source, round);
    std::vector<std::uint32_t> found(expected.size(), 0);
    for (const Message& message : box.in) {
      EXPECT_EQ(message.object, static_cast<std::uint32_t>(rank()));
      EXPECT_EQ(message.member, found[message.instance]++);  // one sender's messages stay in order
    }
    EXPECT_EQ(found, expected);
    for (const auto& out : box.out) EXPECT_TRUE(out.empty());
  }
  // Not on the list.
  if (ranks() > 3) {
    Mailbox box = mailbox_for({(rank() + 3) % ranks()}, 1);
    EXPECT_THROW(transport->exchange({&box, 1}), std::logic_error);
  }
}

TEST_P(MpiTransport, DeliversManyMessagesToEverybodyAndItself) {
  // Far above what MPI sends without a rendezvous, and a few hundred MB over all ranks.
  const std::uint32_t many = 200'000 / static_cast<std::uint32_t>(std::max(4, ranks()));
  auto transport = make_mpi_transport(MPI_COMM_WORLD, std::nullopt, GetParam());
  ASSERT_EQ(transport->ranks(), ranks());
  std::vector<int> everybody(static_cast<std::size_t>(ranks()));
  std::iota(everybody.begin(), everybody.end(), 0);
  Mailbox box = mailbox_for(everybody, many);
  box.promise = Time::picoseconds(100 - rank());
  box.progress = 7 + rank();
  Agreement agreement = transport->exchange({&box, 1});
  EXPECT_EQ(agreement.bound, Time::picoseconds(100 - (ranks() - 1)));
  EXPECT_EQ(agreement.progress, 7);
  EXPECT_FALSE(agreement.failed);
  ASSERT_EQ(box.in.size(), many * static_cast<std::size_t>(ranks()));
  std::vector<std::uint64_t> members(static_cast<std::size_t>(ranks()), 0);
  for (const Message& event : box.in) {
    EXPECT_EQ(event.object, static_cast<std::uint32_t>(rank()));
    members[event.instance] += event.member;
  }
  EXPECT_EQ(members, std::vector<std::uint64_t>(members.size(), std::uint64_t{many} * (many - 1) / 2));
  for (const auto& out : box.out) EXPECT_TRUE(out.empty());
  box.failed = rank() == 0;
  EXPECT_TRUE(transport->exchange({&box, 1}).failed);
  EXPECT_TRUE(box.in.empty());
}

TEST_P(MpiTransport, GathersTextsOfAllLengths) {
  auto transport = make_mpi_transport(MPI_COMM_WORLD, std::nullopt, GetParam());
  std::string text(static_cast<std::size_t>(rank()) * 1'000, static_cast<char>('a' + rank() % 26));
  std::vector<std::string> all = transport->gather({&text, 1});
  ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks()));
  for (int peer = 0; peer < ranks(); ++peer) {
    EXPECT_EQ(all[static_cast<std::size_t>(peer)],
              std::string(static_cast<std::size_t>(peer) * 1'000, static_cast<char>('a' + peer % 26)));
  }
}

}  // namespace
}  // namespace proteus::engine::testing

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleMock(&argc, argv);
  if (proteus::engine::testing::rank() != 0) GTEST_FLAG_SET(brief, true);
  int status = RUN_ALL_TESTS();
  MPI_Finalize();
  return status;
}
