// SPDX-License-Identifier: Apache-2.0
// What is said of ranks on machines that hwloc makes up.
#include "proteus/partition/placement.hpp"

#include <gmock/gmock.h>

#include "matching.hpp"
#include "proteus/base/error.hpp"
#include "topology.hpp"

namespace proteus::partition {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Ranks on one host after the other.
class Ranks {
 public:
  Ranks& host(const std::string& name, const std::string& machine) {
    name_ = name;
    usable_ = Topology::synthetic(machine).usable();
    return *this;
  }
  Ranks& bound(std::vector<int> threads) {
    places_.push_back({static_cast<int>(places_.size()), name_, usable_, std::move(threads)});
    return *this;
  }
  Ranks& unbound(int count) {
    std::vector<int> all;
    for (const HardwareThread& thread : usable_) all.push_back(thread.number);
    for (int i = 0; i < count; ++i) bound(all);
    return *this;
  }
  PlacementReport judge() const { return judge_placement(places_); }
  std::vector<std::string> warnings() const { return judge().warnings; }

 private:
  std::string name_;
  std::vector<HardwareThread> usable_;
  std::vector<RankPlace> places_;
};

TEST(Topology, NumbersThreadsCoresAndNodes) {
  const auto threads = Topology::synthetic("numa:2 core:2 pu:2").usable();
  EXPECT_THAT(threads, ElementsAre(HardwareThread{0, 0, 0}, HardwareThread{1, 0, 0}, HardwareThread{2, 1, 0},
                                   HardwareThread{3, 1, 0}, HardwareThread{4, 2, 1}, HardwareThread{5, 2, 1},
                                   HardwareThread{6, 3, 1}, HardwareThread{7, 3, 1}));
  EXPECT_THROW(Topology::synthetic("no machine"), SimulationError);
}

TEST(Topology, OfThisMachine) {
  const RankPlace place = current_place(3, "here");
  EXPECT_EQ(place.rank, 3);
  ASSERT_THAT(place.usable, Not(IsEmpty()));
  ASSERT_THAT(place.bound, Not(IsEmpty()));
  EXPECT_LE(place.bound.size(), place.usable.size());
}

TEST(Placement, ReportsHostsAndBindings) {
  const PlacementReport report = Ranks()
                                     .host("a", "numa:2 core:2 pu:2")
                                     .bound({0, 1})
                                     .bound({4, 5})
                                     .host("b", "numa:1 core:4 pu:1")
                                     .unbound(2)
                                     .judge();
  ASSERT_THAT(report.hosts, SizeIs(2));
  const auto& a = report.hosts[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_THAT((std::vector{a.cores, a.hardware_threads, a.numa_nodes, a.ranks}), ElementsAre(4, 8, 2, 2));
  ASSERT_THAT(a.bindings, SizeIs(2));
  EXPECT_THAT(a.bindings[1].ranks, ElementsAre(1));
  EXPECT_THAT(a.bindings[1].cores, ElementsAre(2));
  EXPECT_THAT(a.bindings[1].numa_nodes, ElementsAre(1));
  EXPECT_TRUE(a.bindings[1].bound);
  const auto& b = report.hosts[1];
  EXPECT_THAT((std::vector{b.cores, b.hardware_threads, b.numa_nodes, b.ranks}), ElementsAre(4, 4, 1, 2));
  ASSERT_THAT(b.bindings, SizeIs(1));
  EXPECT_THAT(b.bindings[0].ranks, ElementsAre(2, 3));
  EXPECT_THAT(b.bindings[0].cores, ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(b.bindings[0].bound);
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(Placement, MoreRanksThanCores) {
  EXPECT_THAT(Ranks().host("a", "numa:1 core:2 pu:2").unbound(2).warnings(), IsEmpty());
  EXPECT_THAT(Ranks().host("a", "numa:1 core:2 pu:2").unbound(3).warnings(),
              ElementsAre(HasSubstr("3 ranks share the 2 cores of a: ")));
  // On several hosts it is told once.
  EXPECT_THAT(Ranks().host("a", "core:2 pu:1").unbound(3).host("b", "core:2 pu:1").unbound(3).warnings(),
              ElementsAre(AllOf(HasSubstr(" cores of a: "), HasSubstr("(so it is on 1 more host)"))));
}

TEST(Placement, RanksBoundToOneCore) {
  EXPECT_THAT(Ranks().host("a", "core:4 pu:1").bound({0}).bound({2}).bound({2}).warnings(),
              ElementsAre(AllOf(HasSubstr("ranks 1, 2 are bound to core 2 of a and must take turns"),
                                HasSubstr("mpirun --bind-to core --map-by core"), HasSubstr("srun --cpu-bind=cores"))));
  // Sets that overlap leave everybody a core as long as they are large enough.
  EXPECT_THAT(Ranks().host("a", "core:4 pu:1").bound({0, 1}).bound({0, 1}).bound({1, 2}).warnings(), IsEmpty());
  EXPECT_THAT(Ranks().host("a", "core:4 pu:1").bound({0, 1}).bound({0, 1}).bound({0, 1}).bound({3}).warnings(),
              ElementsAre(HasSubstr("ranks 0-2 are bound to cores 0, 1 of a")));
  EXPECT_THAT(Ranks().host("a", "core:4 pu:1").bound({1}).unbound(3).warnings(), IsEmpty());
}

TEST(Placement, HardwareThreadsOfOneCore) {
  EXPECT_THAT(Ranks().host("a", "core:2 pu:2").bound({0}).bound({1}).warnings(),
              ElementsAre(HasSubstr("ranks 0, 1 are bound to hardware threads of the same core 0 of a")));
  EXPECT_THAT(Ranks().host("a", "core:2 pu:2").bound({0}).bound({2}).warnings(), IsEmpty());
  EXPECT_THAT(Ranks().host("a", "core:2 pu:2").bound({0, 1}).bound({2, 3}).warnings(), IsEmpty());
}

TEST(Placement, SeveralNumaNodes) {
  EXPECT_THAT(Ranks().host("a", "numa:2 core:2 pu:1").bound({0, 1}).bound({1, 2}).warnings(),
              ElementsAre(HasSubstr("rank 1 is bound to cores of several of the 2 NUMA nodes of a")));
  EXPECT_THAT(Ranks().host("a", "numa:2 core:2 pu:1").unbound(2).warnings(),
              ElementsAre(AllOf(HasSubstr("ranks 0, 1 are not bound on a, which has 2 NUMA nodes"),
                                HasSubstr("--bind-to core"))));
  EXPECT_THAT(Ranks().host("a", "numa:2 core:2 pu:1").bound({0, 1}).bound({2, 3}).warnings(), IsEmpty());
  EXPECT_THAT(Ranks().host("a", "numa:1 core:4 pu:1").unbound(2).warnings(), IsEmpty());
  // A single process waits for nobody.
  EXPECT_THAT(Ranks().host("a", "numa:2 core:2 pu:1").unbound(1).warnings(), IsEmpty());
}

TEST(Placement, WhereTheSystemDoesNotTell) {
  const std::vector<RankPlace> places{{0, "a", {}, {}}, {1, "a", {}, {}}};
  const PlacementReport report = judge_placement(places);
  EXPECT_THAT(report.warnings, IsEmpty());
  ASSERT_THAT(report.hosts, SizeIs(1));
  EXPECT_EQ(report.hosts[0].cores, 0);
  EXPECT_FALSE(report.hosts[0].bindings[0].bound);
}

TEST(Placement, NumbersAsRanges) {
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text(std::vector{3}), "3");
  EXPECT_EQ(ranges_text(std::vector{0, 1, 3, 5, 6, 7}), "0, 1, 3, 5-7");
}

TEST(Matching, FindsWhoHasTooFewChoices) {
  EXPECT_THAT(crowd_of({{0, 1}, {0}, {2, 1}}), IsEmpty());
  EXPECT_THAT(crowd_of({{0, 1}, {0}, {3}, {1}}), ElementsAre(0, 1, 3));
  EXPECT_THAT(crowd_of({{4}, {}}), ElementsAre(1));
}

}  // namespace
}  // namespace proteus::partition
