// SPDX-License-Identifier: Apache-2.0
// No run sends anything beyond the neighbours that its ranks know beforehand.
#include "proteus/partition/neighbours.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <set>

#include "random_job.hpp"

namespace proteus::executor::testing {
namespace {

using ::testing::Contains;
using B = JobBuilder;

/// Notes who sends to whom.
class Listening final : public engine::Transport {
 public:
  explicit Listening(int ranks) : inner_(engine::make_in_process_transport(ranks)) {}
  int ranks() const override { return inner_->ranks(); }
  engine::Agreement exchange(std::span<engine::Mailbox> local) override {
    for (const engine::Mailbox& box : local) {
      for (std::size_t to = 0; to < box.out.size(); ++to) {
        if (!box.out[to].empty()) pairs.emplace(box.rank, static_cast<int>(to));
      }
    }
    return inner_->exchange(local);
  }
  std::vector<std::string> gather(std::span<const std::string> local) override { return inner_->gather(local); }

  std::set<std::pair<int, int>> pairs;

 private:
  std::unique_ptr<engine::Transport> inner_;
};

TEST(Neighbours, NobodyElseIsSentTo) {
  std::size_t pairs = 0;
  std::size_t possible = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const JobBuilder b = RandomJob(seed).take();
    auto objects = std::make_shared<const partition::Objects>(b.job, b.cluster);
    for (std::uint64_t policy = 0; policy <= 2; ++policy) {
      const int ranks = std::array{2, 3, 4, 7, 16}[seed % 5];
      const auto assignment = partition::assign(
          b.job, objects, {policy == 0 ? partition::PolicyKind::replica : partition::PolicyKind::random, policy},
          ranks);
      std::vector<engine::LocalEngine> engines;
      for (int rank = 0; rank < ranks; ++rank) {
        engines.push_back(make_engine(b.job, b.cluster, {}, assignment, rank, nullptr));
      }
      Listening transport(ranks);
      engine::run_windows(engines, transport, {});
      for (auto [from, to] : transport.pairs) {
        EXPECT_THAT(partition::neighbours(b.job, assignment, from), Contains(to)) << seed;
        EXPECT_THAT(partition::neighbours(b.job, assignment, to), Contains(from)) << seed;
      }
      pairs += transport.pairs.size();
      for (int rank = 0; rank < ranks; ++rank) possible += partition::neighbours(b.job, assignment, rank).size();
    }
  }
  EXPECT_GT(pairs, 200U);
  EXPECT_LE(pairs, possible);
}

TEST(Neighbours, OfAPipeline) {
  B b(4, 1);
  b.stages(1, 4);
  std::vector<std::uint32_t> sends;
  for (int stage = 0; stage < 3; ++stage) {
    auto family = b.family("pp " + std::to_string(stage), stage, {}, {{1, 2}});
    sends.push_back(b.collective(family, cost::Collective::send_receive, 1000, Traffic::pipeline, 8'000'000, 1e9));
  }
  b.program({b.phase("0", {B::communicate(sends[0], Stream::forward_send)})});
  b.program({b.phase(
      "1", {B::communicate(sends[0], Stream::forward_receive), B::communicate(sends[1], Stream::forward_send)})});
  b.program({b.phase(
      "2", {B::communicate(sends[1], Stream::forward_receive), B::communicate(sends[2], Stream::forward_send)})});
  b.program({b.phase("3", {B::communicate(sends[2], Stream::forward_receive)})});
  b.finish();
  auto objects = std::make_shared<const partition::Objects>(b.job, b.cluster);
  // One rank more than islands: the last is empty.
  const auto assignment = partition::assign(b.job, objects, {}, 5);
  std::set<int> hosts;
  for (std::uint32_t owner : *assignment.owner) hosts.insert(static_cast<int>(owner));
  ASSERT_EQ(hosts.size(), 4U);
  auto position = [&hosts](std::uint32_t owner) {
    return std::distance(hosts.begin(), hosts.find(static_cast<int>(owner)));
  };
  for (std::uint32_t island = 0; island < 4; ++island) {
    const auto host = (*assignment.owner)[island];
    for (int other : partition::neighbours(b.job, assignment, static_cast<int>(host))) {
      EXPECT_LE(std::abs(position(host) - position(static_cast<std::uint32_t>(other))), 1);
    }
    EXPECT_FALSE(partition::neighbours(b.job, assignment, static_cast<int>(host)).empty());
  }
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(partition::neighbours(b.job, assignment, rank).empty(), !hosts.contains(rank));
  }
}

}  // namespace
}  // namespace proteus::executor::testing
