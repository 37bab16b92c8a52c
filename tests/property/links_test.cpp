// SPDX-License-Identifier: Apache-2.0
// Links of twice the bandwidth, latencies as they were, never make a job slower. Programs run in a fixed order, so that
// no scheduler turns faster parts into a slower whole. Nor is it more than twice as fast, as long as the collectives
// are the same: other algorithms may be better by more.
#include <gtest/gtest.h>

#include "proteus/cost/communication_cost.hpp"
#include "proteus/cost/compute_cost.hpp"
#include "proteus/graph/compile.hpp"
#include "proteus/io/experiment.hpp"
#include "saved_job.hpp"
#include "seeds.hpp"

namespace proteus::property {
namespace {

// Transfers meet others on their links than before; that may cost one of them a little.
constexpr double tolerance = 1e-3;

cluster::Cluster with_twice_the_bandwidth(cluster::Cluster cluster) {
  for (BytesPerSecond* bandwidth :
       {&cluster.node.intra_bandwidth, &cluster.node.nic_bandwidth, &cluster.node.pcie_bandwidth,
        &cluster.node.gpu.nvlink_bandwidth, &cluster.node.gpu.nccl_link_bandwidth}) {
    bandwidth->value *= 2;
  }
  return cluster;
}

class Links : public SavedJob {
 protected:
  /// How long `job` on `cluster` takes, beside the one as it was generated.
  double relative_time(const graph::Job& job, const cluster::Cluster& cluster) const {
    const io::Experiment& experiment = job_.prepared.experiment;
    const double before = run(job_, {}).result.iteration_end.back().to_seconds();
    const Outcome faster = run(job, cluster, cli::executor_options(experiment.simulate), {});
    return faster.result.iteration_end.back().to_seconds() / before;
  }
};

TEST_P(Links, AreNotWorseWhenTheSameCollectivesMoveTwiceAsFast) {
  graph::Job job = job_.prepared.job;
  for (graph::CollectiveUse& use : job.collectives) {
    for (auto& [placement, price] : use.cost) price.bandwidth.value *= 2;
  }
  const double time = relative_time(job, with_twice_the_bandwidth(job_.prepared.experiment.cluster));
  EXPECT_LE(time, 1 + tolerance);
  EXPECT_GE(time, 0.5 * (1 - tolerance));
}

TEST_P(Links, AreNotWorseWhenCollectivesAreChosenForThem) {
  const io::Experiment& e = job_.prepared.experiment;
  const cluster::Cluster faster = with_twice_the_bandwidth(e.cluster);
  const auto compute = cost::make_compute_cost(e.cluster.node.gpu, io::find_catalog());
  const auto communication = cost::make_communication_cost(faster, io::find_catalog());
  const int iterations = static_cast<int>(e.simulate.iterations);
  const graph::Job job = graph::compile({e.model, faster, e.strategy, e.runtime, *compute, *communication, iterations});
  EXPECT_LE(relative_time(job, faster), 1 + tolerance);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Links, ::testing::ValuesIn(seeds()));

}  // namespace
}  // namespace proteus::property
