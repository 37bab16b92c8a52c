// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/assignment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "proteus/base/error.hpp"
#include "proteus/partition/coupling.hpp"

namespace proteus::partition {
namespace {

using ::testing::ElementsAre;

constexpr int tp = 2;
constexpr int dp = 4;
constexpr int pp = 4;

/// tp 2, dp 4, pp 4 on nodes of two devices, each with two NICs: node n holds one tensor group.
struct Example {
  graph::Job job;
  cluster::Cluster cluster;

  Example() {
    job.devices = tp * dp * pp;
    job.island_size = 2;
    job.stage_stride = tp * dp;
    job.stage_count = pp;
    job.program_of_stage.assign(pp, 0);
    cluster.node.gpus = cluster.node.nics = 2;
    cluster.node.nic_bandwidth = {25e9};
    cluster.nodes = dp * pp;
    add("tp", {0, {{tp, dp * pp}}, {{1, tp}}}, graph::Traffic::tensor);
    add("unused", {0, {{tp, dp * pp}}, {{1, tp}}}, graph::Traffic::tensor, false);
    add("dp", {0, {{1, tp}, {tp * dp, pp}}, {{tp, dp}}}, graph::Traffic::gradient);
    add("world", {0, {}, {{1, tp * dp * pp}}}, graph::Traffic::scalar);
    graph::Program program;
    program.steps = {{0, 0}};
    job.programs = {program};
  }

  struct Shape {
    std::int64_t base;
    std::vector<graph::CommunicatorFamily::Axis> groups;
    std::vector<graph::CommunicatorFamily::Axis> members;
  };
  void add(const std::string& name, Shape shape, graph::Traffic traffic, bool used = true) {
    job.families.push_back({name, shape.base, shape.groups, shape.members});
    graph::CollectiveUse use;
    use.family = static_cast<std::uint32_t>(job.families.size() - 1);
    use.traffic = traffic;
    use.size = {1 << 20};
    cost::CollectiveCost cost;
    cost.latency = Time::microseconds(10);
    cost.bandwidth = {10e9};
    cost.nic_bytes = 1;
    const auto& family = job.families.back();
    for (std::int64_t group = 0; group < family.groups(); ++group) use.cost[family.placement(group, 2)] = cost;
    job.collectives.push_back(use);
    if (job.phases.empty()) job.phases.emplace_back();
    if (!used) return;
    graph::ProgramOp op;
    op.collective = static_cast<std::uint32_t>(job.collectives.size() - 1);
    op.stream = graph::Stream::gradient;
    job.phases[0].ops.push_back(op);
  }

  std::shared_ptr<const Objects> objects() const { return std::make_shared<const Objects>(job, cluster); }
};

TEST(Objects, NumbersIslandsThenCommunicatorsThenDomains) {
  Example e;
  auto objects = e.objects();
  EXPECT_EQ(objects->islands(), 16u);
  EXPECT_EQ(objects->communicators(), 8u + 1);
  // The rails do not meet: data-parallel groups stay on one, and each stage has nodes of its own. Scalars do not count.
  EXPECT_EQ(objects->domains(), 8u);
  EXPECT_EQ(objects->object_of(0, 3), std::nullopt);
  EXPECT_EQ(objects->object_of(1, 0), std::nullopt);
  EXPECT_EQ(objects->object_of(2, 5), 21u);
  EXPECT_EQ(objects->object_of(3, 0), 24u);
  EXPECT_EQ(objects->communicator(21).group, 5);
  EXPECT_THAT(std::vector(objects->domains_of(21).begin(), objects->domains_of(21).end()), ElementsAre(30));
  EXPECT_TRUE(objects->domains_of(24).empty());
  EXPECT_THAT(std::vector(objects->communicators_of(30).begin(), objects->communicators_of(30).end()), ElementsAre(21));
}

TEST(Objects, FamiliesThatOnlySometimesSpan) {
  Example e;
  e.job.island_size = 4;
  e.add("mixed", {0, {{3, 4}}, {{1, 2}}}, graph::Traffic::tensor);
  auto objects = e.objects();
  // Devices 0 and 1, 6 and 7, 9 and 10 share an island of four; 3 and 4 do not.
  EXPECT_EQ(objects->object_of(4, 0), std::nullopt);
  EXPECT_EQ(objects->object_of(4, 2), std::nullopt);
  EXPECT_EQ(objects->object_of(4, 3), std::nullopt);
  ASSERT_NE(objects->object_of(4, 1), std::nullopt);
  EXPECT_EQ(objects->communicator(*objects->object_of(4, 1)).group, 1);
}

TEST(Objects, DomainsFollowTrafficWithinAReplica) {
  Example e;
  e.add("pp", {0, {{1, tp * dp}}, {{tp * dp, 2}}}, graph::Traffic::pipeline);
  auto objects = e.objects();
  // Stages 0 and 1 come together in each of 4 replicas and on both rails; 2 and 3 have a domain a rail.
  EXPECT_EQ(objects->domains(), 8u + 4u);
  // The data-parallel group of stage 0 meets its replicas one by one.
  EXPECT_EQ(objects->domains_of(16).size(), 4u);
  EXPECT_EQ(objects->spreads_of(16).size(), 1u);
  EXPECT_EQ(objects->spreads_of(16)[0].parts.size(), 4u);
  EXPECT_EQ(objects->domains_of(20).size(), 1u);
  EXPECT_TRUE(objects->spreads_of(20).empty());
}

TEST(Objects, RefusesAJobThatDoesNotFit) {
  Example e;
  e.cluster.nodes = 3;
  EXPECT_THROW(e.objects(), SimulationError);
}

std::vector<std::uint32_t> islands(const Assignment& a) {
  return {a.owner->begin(), a.owner->begin() + a.objects->islands()};
}

TEST(Assignment, BlockDealsContiguousIslands) {
  Example e;
  Assignment a = assign(e.job, e.objects(), policy_from("block"), 4);
  EXPECT_THAT(islands(a), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
  // Data-parallel group 5 is rail 1 of stage 2, which is on rank 2.
  EXPECT_EQ((*a.owner)[21], 2u);
  std::set<std::uint32_t> domain_owners(a.owner->begin() + a.objects->first_domain(), a.owner->end());
  EXPECT_EQ(domain_owners.size(), 4u);
  EXPECT_THAT(local_devices(a, 1), ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
}

TEST(Assignment, ReplicaKeepsPipelinesTogether) {
  Example e;
  Assignment a = assign(e.job, e.objects(), policy_from("replica"), 4);
  EXPECT_THAT(islands(a), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3));
}

TEST(Assignment, RandomDependsOnItsSeed) {
  Example e;
  auto objects = e.objects();
  auto one = assign(e.job, objects, policy_from("random:1"), 5);
  EXPECT_EQ(*one.owner, *assign(e.job, objects, policy_from("random:1"), 5).owner);
  EXPECT_NE(*one.owner, *assign(e.job, objects, policy_from("random:2"), 5).owner);
}

TEST(Assignment, MoreRanksThanObjects) {
  Example e;
  for (const char* policy : {"auto", "block", "replica", "metis", "each", "random:3"}) {
    Assignment a = assign(e.job, e.objects(), policy_from(policy), 100);
    std::size_t devices = 0;
    for (int rank = 0; rank < 100; ++rank) devices += local_devices(a, rank).size();
    EXPECT_EQ(devices, 32u);
    for (std::uint32_t owner : *a.owner) EXPECT_LT(owner, 100u);
  }
}

TEST(Assignment, UnknownPolicies) {
  for (const char* text : {"", "blocks", "random", "random:", "random:x", "random:1x"}) {
    EXPECT_THROW(policy_from(text), InputError) << text;
  }
  Example e;
  EXPECT_THROW(assign(e.job, e.objects(), {}, 0), InputError);
}

TEST(Coupling, CountsWhatProgramsRun) {
  Example e;
  auto objects = e.objects();
  const CouplingGraph graph = couplings(e.job, *objects);
  // Every device runs tp, dp and world once: 2 devices an island.
  EXPECT_EQ(graph.events[0], 2 * 3 * 2);
  // Four members of a data-parallel group, and one domain.
  EXPECT_EQ(graph.events[16], 4 + 1);
  EXPECT_EQ(graph.events[objects->first_domain()], 3);
  EXPECT_EQ(graph.edges.size(), 8u * 4 + 32 + 8);  // members of dp groups, of world; dp groups and their domains
}

TEST(Coupling, MeasuredEventsReplaceThePredicted) {
  Example e;
  auto objects = e.objects();
  std::vector<double> measured(objects->count(), 1);
  // Island 3 alone has as much to do as all others together.
  measured[3] = 15;
  const CouplingGraph graph = couplings(e.job, *objects, measured);
  EXPECT_EQ(graph.events, measured);
  EXPECT_EQ(fingerprint(graph), fingerprint(couplings(e.job, *objects)));
  const Assignment even = assign(e.job, objects, policy_from("metis"), 2);
  const Assignment weighed = assign(e.job, objects, policy_from("metis"), 2, measured);
  EXPECT_GT(predict(e.job, graph, weighed).balance, predict(e.job, graph, even).balance);
  std::size_t beside = 0;
  for (std::uint32_t island = 0; island < objects->islands(); ++island) {
    if ((*weighed.owner)[island] == (*weighed.owner)[3]) ++beside;
  }
  EXPECT_LT(beside, objects->islands() / 2);
  EXPECT_THROW(couplings(e.job, *objects, std::vector<double>(3)), std::invalid_argument);
}

TEST(Coupling, FingerprintsTellJobsApart) {
  Example e;
  const std::string print = fingerprint(couplings(e.job, *e.objects()));
  EXPECT_EQ(print.size(), 32u);
  e.job.iterations = 7;
  EXPECT_EQ(fingerprint(couplings(e.job, *e.objects())), print);
  e.job.programs[0].steps.push_back({0, 1});
  EXPECT_NE(fingerprint(couplings(e.job, *e.objects())), print);
}

TEST(Coupling, MetisKeepsPipelinesWholeWhereItPays) {
  Example e;
  e.job.iterations = 50;
  for (int stage = 0; stage + 1 < pp; ++stage) {
    for (int micro_batch = 0; micro_batch < 8; ++micro_batch) {
      e.add("pp", {stage * tp * dp, {{1, tp * dp}}, {{tp * dp, 2}}}, graph::Traffic::pipeline);
    }
  }
  auto objects = e.objects();
  const CouplingGraph graph = couplings(e.job, *objects);
  const Assignment metis = assign(e.job, objects, policy_from("metis"), 4);
  EXPECT_EQ(*metis.owner, *assign(e.job, objects, policy_from("metis"), 4).owner);
  for (std::uint32_t island = 0; island < 4; ++island) {
    for (std::uint32_t stage = 1; stage < pp; ++stage) {
      EXPECT_EQ((*metis.owner)[island], (*metis.owner)[island + stage * dp]) << island;
    }
  }
  const Prediction whole = predict(e.job, graph, metis);
  const Prediction block = predict(e.job, graph, assign(e.job, objects, policy_from("block"), 4));
  EXPECT_LT(whole.cut_messages, block.cut_messages);
  EXPECT_LT(whole.windows, block.windows);
  EXPECT_GT(whole.efficiency, block.efficiency);
  EXPECT_EQ(std::accumulate(whole.devices.begin(), whole.devices.end(), std::int64_t{0}), e.job.devices);
  EXPECT_NE(assign(e.job, objects, policy_from("auto"), 4).kind, PolicyKind::block);
  EXPECT_EQ(predict(e.job, graph, assign(e.job, objects, policy_from("auto"), 1)).windows, 0);
}

}  // namespace
}  // namespace proteus::partition
