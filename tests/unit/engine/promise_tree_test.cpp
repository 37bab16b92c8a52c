// SPDX-License-Identifier: Apache-2.0
#include "promise_tree.hpp"

#include <gtest/gtest.h>

#include <random>

namespace proteus::engine {
namespace {

TEST(PromiseTree, IsInfiniteWithoutEntries) {
  EXPECT_TRUE(PromiseTree().smallest().is_infinite());
  EXPECT_TRUE(PromiseTree(5).smallest().is_infinite());
}

TEST(PromiseTree, FollowsTheSmallest) {
  std::mt19937_64 random(3);
  for (std::size_t size : {1U, 2U, 3U, 7U, 8U, 100U}) {
    PromiseTree tree(size);
    std::vector<Time> times(size, Time::infinity());
    for (int change = 0; change < 500; ++change) {
      std::size_t index = random() % size;
      times[index] = random() % 4 == 0 ? Time::infinity() : Time::picoseconds(static_cast<std::int64_t>(random() % 50));
      tree.set(index, times[index]);
      ASSERT_EQ(tree.smallest(), std::ranges::min(times)) << size << " entries, change " << change;
    }
  }
}

}  // namespace
}  // namespace proteus::engine
