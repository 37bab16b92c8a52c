// SPDX-License-Identifier: Apache-2.0
#include "proteus/base/hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

namespace proteus {
namespace {

using Fact = std::array<std::uint64_t, 4>;

StateHash hash_of(const std::vector<Fact>& facts) {
  StateHash hash;
  for (const Fact& fact : facts) hash.add(fact[0], fact[1], fact[2], fact[3]);
  return hash;
}

std::vector<Fact> some_facts() {
  std::vector<Fact> facts;
  for (std::uint64_t owner = 0; owner < 10; ++owner) {
    for (std::uint64_t fact = 0; fact < 10; ++fact) facts.push_back({owner, fact, 1000 * fact, 7});
  }
  return facts;
}

TEST(StateHash, IgnoresTheOrderOfFacts) {
  std::vector<Fact> facts = some_facts();
  StateHash expected = hash_of(facts);
  std::mt19937 random(1);
  std::ranges::shuffle(facts, random);
  EXPECT_EQ(hash_of(facts), expected);
}

TEST(StateHash, MergesPartsLikeTheWhole) {
  std::vector<Fact> facts = some_facts();
  StateHash merged = hash_of({facts.begin(), facts.begin() + 33});
  merged.merge(hash_of({facts.begin() + 33, facts.end()}));
  EXPECT_EQ(merged, hash_of(facts));
}

TEST(StateHash, MovesWithEveryNumberOfAFact) {
  std::set<std::string> seen{hash_of(some_facts()).to_string()};
  for (std::size_t position = 0; position < 4; ++position) {
    std::vector<Fact> facts = some_facts();
    facts[42][position] += 1;
    seen.insert(hash_of(facts).to_string());
  }
  std::vector<Fact> twice = some_facts();
  twice.push_back(twice[3]);
  seen.insert(hash_of(twice).to_string());
  EXPECT_EQ(seen.size(), 6U);
}

TEST(StateHash, TellsApartSwappedValues) {
  EXPECT_FALSE(hash_of({{1, 2, 10, 20}, {1, 3, 30, 40}}) == hash_of({{1, 2, 30, 40}, {1, 3, 10, 20}}));
  EXPECT_FALSE(hash_of({{1, 2, 10, 20}}) == hash_of({{1, 2, 20, 10}}));
  EXPECT_FALSE(hash_of({{1, 2, 10, 20}}) == hash_of({{2, 1, 10, 20}}));
}

TEST(StateHash, PrintsThirtyTwoDigits) {
  StateHash hash;
  EXPECT_EQ(hash.to_string(), "00000000000000000000000000000000");
  hash.high = 0xabc;
  hash.low = 1;
  EXPECT_EQ(hash.to_string(), "0000000000000abc0000000000000001");
}

}  // namespace
}  // namespace proteus
