// SPDX-License-Identifier: Apache-2.0
#include "fluid_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace proteus::executor {
namespace {

using Use = FluidNetwork::Use;

struct Flow {
  double cap = 0;
  std::vector<Use> uses;
};

/// Progressive filling in small steps of thought: raise all open rates to the next thing that stops one of them.
std::map<std::uint64_t, double> brute_force(const std::map<std::uint64_t, Flow>& flows,
                                            const std::vector<double>& capacities) {
  std::map<std::uint64_t, double> fixed;
  while (fixed.size() < flows.size()) {
    auto full_at = [&](std::uint32_t link) {
      double used = 0;
      double weight = 0;
      for (const auto& [key, flow] : flows) {
        for (const Use& use : flow.uses) {
          if (use.link != link) continue;
          if (fixed.contains(key)) {
            used += use.weight * fixed[key];
          } else {
            weight += use.weight;
          }
        }
      }
      return weight > 0 ? (capacities[link] - used) / weight : INFINITY;
    };
    double level = INFINITY;
    for (std::uint32_t link = 0; link < capacities.size(); ++link) level = std::min(level, full_at(link));
    for (const auto& [key, flow] : flows) {
      if (!fixed.contains(key)) level = std::min(level, flow.cap);
    }
    std::vector<std::uint64_t> stopped;
    for (const auto& [key, flow] : flows) {
      if (fixed.contains(key)) continue;
      bool stops = flow.cap <= level * (1 + 1e-12);
      for (const Use& use : flow.uses) stops = stops || full_at(use.link) <= level * (1 + 1e-12);
      if (stops) stopped.push_back(key);
    }
    for (std::uint64_t key : stopped) fixed[key] = level;
  }
  return fixed;
}

TEST(FluidNetwork, AloneRunsAtItsCap) {
  FluidNetwork network({10}, NetworkMode::max_min);
  std::vector<Use> uses{{0, 1}};
  network.start(1, 8, 4, uses, 0);
  network.solve(0);
  EXPECT_EQ(network.rate(1), 4);
  EXPECT_EQ(network.next_ps(), 2'000'000'000'000);
}

TEST(FluidNetwork, CappedFlowLeavesTheRestToTheOthers) {
  FluidNetwork network({10}, NetworkMode::max_min);
  std::vector<Use> uses{{0, 1}};
  network.start(1, 100, 2, uses, 0);
  network.start(2, 100, 9, uses, 0);
  network.start(3, 100, 9, uses, 0);
  network.solve(0);
  EXPECT_DOUBLE_EQ(network.rate(1), 2);
  EXPECT_DOUBLE_EQ(network.rate(2), 4);
  EXPECT_DOUBLE_EQ(network.rate(3), 4);
  FluidNetwork fair({10}, NetworkMode::fair_share);
  fair.start(1, 100, 2, uses, 0);
  fair.start(2, 100, 9, uses, 0);
  fair.solve(0);
  EXPECT_DOUBLE_EQ(fair.rate(1), 2);
  EXPECT_DOUBLE_EQ(fair.rate(2), 5);
}

TEST(FluidNetwork, AddingAFlowMaySpeedAnotherUp) {
  // B shares link 0 with A and link 1 with C: C takes from B, which leaves more to A.
  FluidNetwork network({10, 6}, NetworkMode::max_min);
  std::vector<Use> a{{0, 1}};
  std::vector<Use> both{{0, 1}, {1, 1}};
  std::vector<Use> c{{1, 1}};
  network.start(1, 1000, 100, a, 0);
  network.start(2, 1000, 100, both, 0);
  network.solve(0);
  EXPECT_DOUBLE_EQ(network.rate(1), 5);
  network.start(3, 1000, 100, c, 0);
  network.solve(0);
  EXPECT_DOUBLE_EQ(network.rate(1), 7);
  EXPECT_DOUBLE_EQ(network.rate(2), 3);
}

TEST(FluidNetwork, RandomChangesKeepRatesMaxMin) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 40; ++trial) {
    const std::uint32_t links = 3 + random() % 6;
    std::vector<double> capacities;
    for (std::uint32_t l = 0; l < links; ++l) capacities.push_back(1 + random() % 20);
    FluidNetwork network(capacities, NetworkMode::max_min);
    std::map<std::uint64_t, Flow> flows;
    std::int64_t now = 0;
    std::uint64_t next_key = 0;
    double sent = 0;
    for (int change = 0; change < 60; ++change) {
      bool ends = !flows.empty() && random() % 2 == 0;
      if (ends) {
        now = network.next_ps();
        auto done = network.finish(now);
        ASSERT_FALSE(done.empty());
        for (std::uint64_t key : done) flows.erase(key);
      } else {
        std::uint64_t key = next_key++ * 7919 % 1000;
        Flow& flow = flows[key];
        flow.cap = 1 + random() % 8;
        for (std::uint32_t l = 0; l < links; ++l) {
          if (random() % 3 == 0) flow.uses.push_back({l, 0.25 * static_cast<double>(1 + random() % 4)});
        }
        double work = 1 + random() % 50;
        sent += work;
        network.start(key, work, flow.cap, flow.uses, now);
      }
      network.solve(now);
      auto expected = brute_force(flows, capacities);
      for (const auto& [key, rate] : expected) ASSERT_NEAR(network.rate(key), rate, 1e-7 * rate) << "trial " << trial;
      for (std::uint32_t l = 0; l < links; ++l) ASSERT_LE(network.load(l), capacities[l] * (1 + 1e-8));
      ASSERT_EQ(network.active(), flows.size());
    }
    EXPECT_GT(sent, 0);
  }
}

TEST(FluidNetwork, BytesSentAreBytesAsked) {
  // 30 bytes each; the second joins when the first has moved 10: 20 and 30 left at half of the link.
  FluidNetwork network({10}, NetworkMode::max_min);
  std::vector<Use> uses{{0, 1}};
  const std::int64_t second = 1'000'000'000'000;
  network.start(1, 30, 10, uses, 0);
  network.solve(0);
  network.start(2, 30, 10, uses, second);
  network.solve(second);
  EXPECT_EQ(network.next_ps(), 5 * second);
  EXPECT_EQ(network.finish(5 * second), (std::vector<std::uint64_t>{1}));
  network.solve(5 * second);
  EXPECT_EQ(network.next_ps(), 6 * second);
}

}  // namespace
}  // namespace proteus::executor
