// SPDX-License-Identifier: Apache-2.0
#include "prepared_job.hpp"

#include <fmt/format.h>

#include <chrono>

#include "proteus/base/error.hpp"
#include "proteus/cost/communication_cost.hpp"
#include "proteus/cost/compute_cost.hpp"
#include "proteus/graph/compile.hpp"
#include "proteus/io/event_counts.hpp"
#include "proteus/partition/coupling.hpp"

namespace proteus::cli {
namespace {

/// Only compute ops take a delay: what a collective takes follows from its members.
void check_delays(const PreparedJob& prepared) {
  const graph::Job& job = prepared.job;
  const SourceLocation where{prepared.experiment.file.string(), 0, 0};
  constexpr double longest_s = 1e6;  // all together; simulated time ends at 2.3e6 s
  double all_s = 0;
  for (const io::Delay& delay : prepared.experiment.simulate.delays) all_s += delay.by.to_seconds();
  if (all_s > longest_s) {
    throw InputError(where, "simulate.delays", fmt::format("add up to {:.3g} s", all_s),
                     fmt::format("at most {:.0e} s", longest_s));
  }
  for (const io::Delay& delay : prepared.experiment.simulate.delays) {
    const graph::Program& program = job.programs[job.class_of(delay.device)];
    const std::int64_t rows = program.rows() * job.iterations;
    const bool inside = delay.position < rows;
    if (inside && graph::op_at(job, program, delay.position).is_compute()) continue;
    throw InputError(delay.where, "simulate.delays",
                     inside ? "position " + std::to_string(delay.position) + " of device " +
                                  std::to_string(delay.device) + " is a collective"
                            : "position " + std::to_string(delay.position) + " is behind the last of device " +
                                  std::to_string(delay.device),
                     "a compute op below " + std::to_string(rows) + ", see compile --print programs");
  }
}

}  // namespace

PreparedJob prepare(const std::string& file, const std::vector<std::string>& overrides) {
  const auto catalog = io::find_catalog();
  PreparedJob prepared{io::read_experiment(file, overrides, catalog), {}, 0};
  const io::Experiment& e = prepared.experiment;
  const auto compute = cost::make_compute_cost(e.cluster.node.gpu, catalog);
  const auto communication = cost::make_communication_cost(e.cluster, catalog);
  const auto begin = std::chrono::steady_clock::now();
  prepared.job = graph::compile(
      {e.model, e.cluster, e.strategy, e.runtime, *compute, *communication, static_cast<int>(e.simulate.iterations)});
  prepared.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  check_delays(prepared);
  return prepared;
}

std::vector<double> measured_events(const std::string& file, const PreparedJob& prepared,
                                    const partition::Objects& objects) {
  if (file.empty()) return {};
  const partition::CouplingGraph graph = partition::couplings(prepared.job, objects);
  return io::measured_events(file, {objects, graph, prepared.experiment.resolved, prepared.job.iterations});
}

executor::Options executor_options(const io::SimulateOptions& simulate) {
  executor::Options options;
  options.network =
      simulate.network == "fair-share" ? executor::NetworkMode::fair_share : executor::NetworkMode::max_min;
  options.seed = simulate.seed;
  options.compute_jitter = simulate.compute_jitter;
  for (const io::Delay& delay : simulate.delays) options.delays.push_back({delay.device, delay.position, delay.by});
  return options;
}

}  // namespace proteus::cli
