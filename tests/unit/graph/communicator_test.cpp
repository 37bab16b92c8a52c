// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/communicator.hpp"

#include <gtest/gtest.h>

#include <set>

namespace proteus::graph {
namespace {

TEST(CommunicatorFamily, GroupsOfAMesh) {
  // 2 (tp) x 3 (dp) x 4 (pp): data-parallel groups.
  CommunicatorFamily dp{"dp", 0, {{1, 2}, {6, 4}}, {{2, 3}}};
  EXPECT_EQ(dp.groups(), 8);
  EXPECT_EQ(dp.members(), 3);
  EXPECT_EQ(dp.device(0, 0), 0);
  EXPECT_EQ(dp.device(1, 2), 5);
  EXPECT_EQ(dp.device(7, 1), 21);
}

TEST(CommunicatorFamily, LocateInvertsDevice) {
  const std::vector<CommunicatorFamily> families{
      {"dp", 0, {{1, 2}, {6, 4}}, {{2, 3}}},
      {"pair", 6, {{1, 6}}, {{6, 2}}},
      {"back to the first stage", 18, {{1, 6}}, {{-18, 2}}},
      {"two axes as one", 3, {{2, 3}}, {{1, 2}, {6, 4}}},
      {"single", 5, {}, {{1, 1}}},
      {"reversed groups", 21, {{-6, 4}}, {{1, 3}}},
  };
  for (const auto& family : families) {
    SCOPED_TRACE(family.name);
    std::set<std::int64_t> devices;
    for (std::int64_t group = 0; group < family.groups(); ++group) {
      for (std::int64_t member = 0; member < family.members(); ++member) {
        std::int64_t device = family.device(group, member);
        EXPECT_TRUE(devices.insert(device).second);
        auto place = family.locate(device);
        ASSERT_TRUE(place.has_value());
        EXPECT_EQ(place->group, group);
        EXPECT_EQ(place->member, member);
      }
    }
    for (std::int64_t device = -5; device < 60; ++device) {
      EXPECT_EQ(family.locate(device).has_value(), devices.contains(device)) << device;
    }
  }
}

TEST(CommunicatorFamily, PlacementCountsNodes) {
  CommunicatorFamily wide{"tp", 0, {{16, 2}}, {{1, 16}}};
  EXPECT_EQ(wide.placement(1, 8), (cost::Placement{16, 2, 8}));
  CommunicatorFamily strided{"dp", 0, {{1, 4}}, {{4, 6}}};
  EXPECT_EQ(strided.placement(0, 8), (cost::Placement{6, 3, 2}));
  // Uneven: devices 6, 7 | 8, 9, 10.
  CommunicatorFamily uneven{"odd", 6, {}, {{1, 5}}};
  EXPECT_EQ(uneven.placement(0, 8), (cost::Placement{5, 2, 3}));
}

TEST(CommunicatorFamily, InsideAnIsland) {
  CommunicatorFamily tp{"tp", 0, {{6, 4}}, {{1, 6}}};
  EXPECT_TRUE(tp.inside_island(0, 8));
  EXPECT_FALSE(tp.inside_island(1, 8));
  EXPECT_FALSE(tp.inside_island(2, 8));
  EXPECT_TRUE(tp.inside_island(3, 8));
  CommunicatorFamily back{"back", 7, {}, {{-7, 2}}};
  EXPECT_TRUE(back.inside_island(0, 8));
  EXPECT_FALSE(back.inside_island(0, 4));
}

}  // namespace
}  // namespace proteus::graph
