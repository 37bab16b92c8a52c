// SPDX-License-Identifier: Apache-2.0
//
// How many op rows a second one core simulates: tensor parallelism over the 8 devices of each island, 100 compute ops
// between collectives, data parallelism over the islands. Usage: executor_bench [ISLANDS] [ITERATIONS] [RANKS]

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "proteus/engine/transport.hpp"
#include "proteus/executor/simulation.hpp"

namespace {

using namespace proteus;

constexpr int island_size = 8;
constexpr int ops_between_collectives = 100;
constexpr int layers = 50;
constexpr int micro_batches = 8;

std::uint32_t add_collective(graph::Job& job, const cluster::Cluster& cluster, std::uint32_t family,
                             graph::Traffic traffic, cost::CollectiveCost cost) {
  graph::CollectiveUse use;
  use.family = family;
  use.size = {16 << 20};
  use.traffic = traffic;
  use.cost[job.families[family].placement(0, cluster.node.gpus)] = cost;
  job.collectives.push_back(use);
  return static_cast<std::uint32_t>(job.collectives.size() - 1);
}

graph::ProgramOp communicate(std::uint32_t collective, graph::Stream stream, std::uint16_t behind) {
  graph::ProgramOp op;
  op.collective = collective;
  op.stream = stream;
  op.host_ps = 1'000'000;
  op.wait_count = 1;
  op.waits[0] = {graph::Stream::compute, behind};
  return op;
}

graph::Phase make_phase(std::uint32_t tensor, std::uint32_t gradient, bool reduces) {
  graph::Phase phase;
  phase.name = "pass";
  std::uint16_t computes = 0;
  for (int layer = 0; layer < layers; ++layer) {
    for (int i = 0; i < ops_between_collectives; ++i) {
      graph::ProgramOp op;
      op.duration_ps = 10'000'000 + 1000 * i;
      op.overlapped_ps = op.duration_ps + op.duration_ps / 8;
      op.host_ps = 1'000'000;
      if (i == 0 && layer > 0) {
        op.wait_count = 1;
        op.waits[0] = {graph::Stream::tensor, static_cast<std::uint16_t>(layer)};
      }
      phase.ops.push_back(op);
      ++computes;
    }
    phase.ops.push_back(communicate(tensor, graph::Stream::tensor, computes));
  }
  if (reduces) phase.ops.push_back(communicate(gradient, graph::Stream::gradient, computes));
  return phase;
}

graph::Job make_job(int islands, int iterations, const cluster::Cluster& cluster) {
  graph::Job job;
  job.devices = std::int64_t{islands} * island_size;
  job.island_size = island_size;
  job.iterations = iterations;
  job.program_of_stage = {0};
  job.stage_stride = job.devices;
  job.families.push_back({"tp", 0, {{island_size, islands}}, {{1, island_size}}});
  job.families.push_back({"dp", 0, {{1, island_size}}, {{island_size, islands}}});
  cost::CollectiveCost inner;
  inner.latency = Time::microseconds(10);
  inner.bandwidth = {150e9};
  inner.nvlink_bytes = 1.75;
  auto tensor = add_collective(job, cluster, 0, graph::Traffic::tensor, inner);
  cost::CollectiveCost outer;
  outer.latency = Time::microseconds(40);
  outer.bandwidth = {12e9};
  outer.nic_bytes = 2;
  auto gradient = add_collective(job, cluster, 1, graph::Traffic::gradient, outer);
  job.phases.push_back(make_phase(tensor, gradient, false));
  job.phases.push_back(make_phase(tensor, gradient, true));
  graph::Program program;
  for (std::uint32_t m = 0; m < micro_batches; ++m) program.steps.push_back({m + 1 == micro_batches ? 1u : 0u, m});
  for (auto& phase : job.phases) phase.finish();
  program.finish(job.phases);
  job.programs.push_back(std::move(program));
  return job;
}

}  // namespace

int main(int argc, char** argv) {
  int islands = argc > 1 ? std::atoi(argv[1]) : 16;
  int iterations = argc > 2 ? std::atoi(argv[2]) : 4;
  int ranks = argc > 3 ? std::atoi(argv[3]) : 0;

  cluster::Cluster cluster;
  cluster.node.gpus = cluster.node.nics = island_size;
  cluster.node.nic_bandwidth = {25e9};
  cluster.node.intra_bandwidth = {300e9};
  cluster.nodes = islands;
  graph::Job job = make_job(islands, iterations, cluster);
  auto objects = std::make_shared<const partition::Objects>(job, cluster);

  for (double jitter : {0.0, 0.02}) {
    executor::Options options;
    options.compute_jitter = jitter;
    auto assignment = partition::assign(job, objects, {}, std::max(1, ranks));
    std::vector<engine::LocalEngine> engines;
    for (int rank = 0; rank < assignment.ranks; ++rank) {
      engines.push_back(executor::make_engine(job, cluster, options, assignment, rank, nullptr));
    }
    std::clock_t begin = std::clock();  // CPU time: the machine may have other work
    if (ranks == 0) {
      engine::run_sequential(engines.front(), {});
    } else {
      auto transport = engine::make_in_process_transport(ranks);
      engine::run_windows(engines, *transport, {});
    }
    double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::vector<executor::Result> results;
    std::uint64_t events = 0;
    for (const auto& engine : engines) {
      results.push_back(executor::collect(job, engine));
      events += engine.statistics().events;
    }
    executor::Result result = executor::merge(results);
    fmt::print("jitter {:4}: {} rows, {} events, {} windows, {:.3f} s CPU: {:.1f} M rows/s; {:.3f} s simulated, {}\n",
               jitter, result.rows, events, engines.front().statistics().windows, seconds,
               static_cast<double>(result.rows) / seconds * 1e-6, result.iteration_end.back().to_seconds(),
               result.hash.to_string());
  }
}
