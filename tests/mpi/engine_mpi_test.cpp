// SPDX-License-Identifier: Apache-2.0
// Run with any number of ranks, one included: mpirun -n N engine_mpi_test.
#include <gmock/gmock.h>

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

StateHash run(const FuzzModel& model, const Owners& owner) {
  auto transport = make_mpi_transport(MPI_COMM_WORLD);
  LocalEngine engine = host(factory_of(model), std::make_shared<const Owners>(owner), model.lookahead(), rank());
  run_windows({&engine, 1}, *transport, {});
  return sum_over_ranks(hash_of({&engine, 1}));
}

class EqualityOverMpi : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(EqualityOverMpi, EqualsTheSequentialLoop) {
  auto count = static_cast<std::uint32_t>(ranks());
  for (Promises promises : {Promises::tight, Promises::early, Promises::none}) {
    FuzzModel model{.seed = GetParam(), .processes = 14, .promises = promises};
    StateHash expected = run_fuzz_sequential(model);
    EXPECT_EQ(run(model, block_owners(model.processes, count)), expected);
    EXPECT_EQ(run(model, random_owners(model.processes, count, GetParam())), expected);
    EXPECT_EQ(run(model, Owners(model.processes, count - 1)), expected) << "empty ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, EqualityOverMpi, ::testing::Range<std::uint64_t>(1, 6));

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

TEST(MpiTransport, DeliversManyMessagesToEverybodyAndItself) {
  constexpr std::uint32_t kMany = 50'000;  // far above what MPI sends without a rendezvous
  auto transport = make_mpi_transport(MPI_COMM_WORLD);
  ASSERT_EQ(transport->ranks(), ranks());
  Mailbox box;
  box.rank = rank();
  box.out.resize(static_cast<std::size_t>(ranks()));
  for (int destination = 0; destination < ranks(); ++destination) {
    for (std::uint32_t i = 0; i < kMany; ++i) {
      box.out[static_cast<std::size_t>(destination)].push_back({{.object = static_cast<std::uint32_t>(destination),
                                                                 .instance = static_cast<std::uint32_t>(rank()),
                                                                 .member = i}});
    }
  }
  box.promise = Time::picoseconds(100 - rank());
  box.progress = 7 + rank();
  Agreement agreement = transport->exchange({&box, 1});
  EXPECT_EQ(agreement.bound, Time::picoseconds(100 - (ranks() - 1)));
  EXPECT_EQ(agreement.progress, 7);
  EXPECT_FALSE(agreement.failed);
  ASSERT_EQ(box.in.size(), kMany * static_cast<std::size_t>(ranks()));
  std::vector<std::uint64_t> members(static_cast<std::size_t>(ranks()), 0);
  for (const Message& event : box.in) {
    EXPECT_EQ(event.object, static_cast<std::uint32_t>(rank()));
    members[event.instance] += event.member;
  }
  EXPECT_EQ(members, std::vector<std::uint64_t>(members.size(), std::uint64_t{kMany} * (kMany - 1) / 2));
  for (const auto& out : box.out) EXPECT_TRUE(out.empty());
  box.failed = rank() == 0;
  EXPECT_TRUE(transport->exchange({&box, 1}).failed);
  EXPECT_TRUE(box.in.empty());
}

TEST(MpiTransport, GathersTextsOfAllLengths) {
  auto transport = make_mpi_transport(MPI_COMM_WORLD);
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
