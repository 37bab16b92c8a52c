// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/fabric_links.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace proteus::partition {
namespace {

using cost::Collective;
using graph::CommunicatorFamily;

cluster::Cluster small(double oversubscription) {
  cluster::Cluster cluster;
  cluster.node.gpus = 4;
  cluster.node.nics = 2;
  cluster.node.nic_bandwidth = {10e9};
  cluster.nodes = 6;
  cluster.fabric.nodes_per_leaf = 2;
  cluster.fabric.oversubscription = oversubscription;
  return cluster;
}

std::map<std::string, double> named(const FabricLinks& links, const std::vector<FabricLinks::Use>& uses) {
  std::map<std::string, double> result;
  for (const auto& use : uses) result[links.name(use.link)] = use.weight;
  return result;
}

using Named = std::map<std::string, double>;

TEST(FabricLinks, LeavesThatAreNotOversubscribedHaveNoLinks) {
  FabricLinks links(small(1));
  EXPECT_EQ(links.count(), 6u * 2 * 2);
  EXPECT_TRUE(links.is_nic(23));
  EXPECT_EQ(links.name(7), "NIC 1 of node 1, in");
}

TEST(FabricLinks, CapacityOfUplinks) {
  FabricLinks rails(small(4));
  EXPECT_EQ(rails.count(), 24u + 3 * 2 * 2);
  EXPECT_DOUBLE_EQ(rails.capacity(24).value, 5e9);
  EXPECT_EQ(rails.name(27), "leaf 0 rail 1, down");
  auto plain = small(4);
  plain.fabric.kind = cluster::FabricKind::fat_tree;
  FabricLinks pooled(plain);
  EXPECT_EQ(pooled.count(), 24u + 3 * 2);
  EXPECT_DOUBLE_EQ(pooled.capacity(24).value, 10e9);
}

TEST(FabricLinks, RingCrossesLeavesWhereItsNeighboursDo) {
  FabricLinks links(small(2));
  // Device 2 of nodes 0 to 3: NIC 1, leaves 0 and 1. The ring goes up once from each leaf.
  CommunicatorFamily ring{"dp", 2, {}, {{4, 4}}};
  EXPECT_EQ(named(links, links.uses(ring, 0, Collective::all_reduce)), (Named{{"NIC 1 of node 0, out", 1},
                                                                              {"NIC 1 of node 0, in", 1},
                                                                              {"NIC 1 of node 1, out", 1},
                                                                              {"NIC 1 of node 1, in", 1},
                                                                              {"NIC 1 of node 2, out", 1},
                                                                              {"NIC 1 of node 2, in", 1},
                                                                              {"NIC 1 of node 3, out", 1},
                                                                              {"NIC 1 of node 3, in", 1},
                                                                              {"leaf 0 rail 1, up", 1},
                                                                              {"leaf 0 rail 1, down", 1},
                                                                              {"leaf 1 rail 1, up", 1},
                                                                              {"leaf 1 rail 1, down", 1}}));
}

TEST(FabricLinks, MembersThatShareANicAddUp) {
  FabricLinks links(small(1));
  CommunicatorFamily both{"dp", 0, {}, {{1, 2}, {4, 2}}};
  EXPECT_EQ(named(links, links.uses(both, 0, Collective::all_gather)), (Named{{"NIC 0 of node 0, out", 2},
                                                                              {"NIC 0 of node 0, in", 2},
                                                                              {"NIC 0 of node 1, out", 2},
                                                                              {"NIC 0 of node 1, in", 2}}));
}

TEST(FabricLinks, SendUsesOneDirection) {
  FabricLinks links(small(2));
  CommunicatorFamily pair{"pp", 0, {}, {{10, 2}}};
  // Device 0 is on rail 0, device 10 on rail 1 of node 2: over a spine.
  EXPECT_EQ(named(links, links.uses(pair, 0, Collective::send_receive)), (Named{{"NIC 0 of node 0, out", 1},
                                                                                {"NIC 1 of node 2, in", 1},
                                                                                {"leaf 0 rail 0, up", 1},
                                                                                {"leaf 1 rail 1, down", 1}}));
}

TEST(FabricLinks, AllToAllCrossesInProportion) {
  FabricLinks links(small(2));
  // Four members: one other on the same leaf switch, two beyond the spine.
  CommunicatorFamily all{"ep", 0, {}, {{4, 4}}};
  auto uses = named(links, links.uses(all, 0, Collective::all_to_all));
  EXPECT_DOUBLE_EQ(uses["NIC 0 of node 3, out"], 1);
  EXPECT_DOUBLE_EQ(uses["leaf 0 rail 0, up"], 2 * 2.0 / 3);
  EXPECT_DOUBLE_EQ(uses["leaf 1 rail 0, down"], 2 * 2.0 / 3);
}

}  // namespace
}  // namespace proteus::partition
