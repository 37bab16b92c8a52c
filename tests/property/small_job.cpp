// SPDX-License-Identifier: Apache-2.0
#include "small_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "delaying_transport.hpp"
#include "proteus/analysis/summary.hpp"
#include "proteus/base/error.hpp"
#include "random_experiment.hpp"

namespace proteus::property {
namespace {

namespace fs = std::filesystem;

class Recorder final : public executor::RowSink {
 public:
  Recorder(const graph::Job& job, Outcome& outcome) : outcome_(outcome) {
    for (std::int64_t device = 0; device < job.devices; ++device) {
      const std::int64_t rows = job.programs[job.class_of(device)].rows() * job.iterations;
      outcome_.rows.emplace_back(static_cast<std::size_t>(rows));
    }
  }
  bool wants(std::int64_t) const override { return true; }
  void record(std::int64_t device, std::int64_t position, Time start, Time duration) override {
    Row& row = outcome_.rows.at(static_cast<std::size_t>(device)).at(static_cast<std::size_t>(position));
    outcome_.twice = outcome_.twice || row.start_ps != -1;
    row = {start.ps(), duration.ps()};
  }

 private:
  Outcome& outcome_;
};

std::unique_ptr<engine::Transport> transport(int ranks, const Way& way) {
  switch (way.travel) {
    case Travel::in_order:
      break;
    case Travel::reordered:
      return engine::make_shuffling_transport(ranks, way.disturbance);
    case Travel::delayed:
      return make_delaying_transport(ranks, way.disturbance);
  }
  return engine::make_in_process_transport(ranks);
}

engine::Budget budget(const Way& way) {
  engine::Budget budget;
  // Wall time must not decide what a test runs.
  budget.time = std::chrono::hours(1);
  if (way.events_a_window == 0) return budget;
  budget.events = way.events_a_window;
  budget.events_between_looks = 1;
  return budget;
}

}  // namespace

cli::PreparedJob prepare_text(const std::string& text) {
  const fs::path file = fs::temp_directory_path() / fmt::format("proteus-property-{}.yaml", getpid());
  std::ofstream(file) << text;
  try {
    cli::PreparedJob prepared = cli::prepare(file.string(), {});
    fs::remove(file);
    return prepared;
  } catch (...) {
    fs::remove(file);
    throw;
  }
}

SmallJob small_job(std::uint64_t seed) {
  SmallJob job;
  job.seed = seed;
  constexpr int attempts = 100;
  while (static_cast<int>(job.rejected.size()) < attempts) {
    const auto attempt = static_cast<int>(job.rejected.size());
    job.text = random_experiment(seed, attempt);
    try {
      job.prepared = prepare_text(job.text);
      return job;
    } catch (const InputError& error) {
      job.rejected.emplace_back(error.what());
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("attempt {} of seed {}: {}\n{}", attempt, seed, error.what(), job.text));
    }
  }
  throw std::runtime_error(
      fmt::format("no experiment of seed {} is accepted; the last: {}", seed, job.rejected.back()));
}

std::string Way::name() const {
  std::string text;
  if (ranks == 0) text = "--sequential";
  if (ranks > 0) text = fmt::format("--virtual-ranks {}", ranks);
  if (ranks < 0) text = "a rank for each logical process";
  if (ranks != 0) text += fmt::format(" --partition {}", partition::name_of(policy.kind));
  if (ranks != 0 && policy.kind == partition::PolicyKind::random) text += fmt::format(":{}", policy.seed);
  if (queue == engine::QueueKind::binary) text += " --queue binary";
  if (folded) text += " --fold exact";
  if (travel == Travel::reordered) text += fmt::format(", messages reordered by {}", disturbance);
  if (travel == Travel::delayed) text += fmt::format(", messages delayed by {}", disturbance);
  if (events_a_window > 0) text += fmt::format(", {} events a window", events_a_window);
  return text;
}

Outcome run(const graph::Job& job, const cluster::Cluster& cluster, executor::Options options, const Way& way) {
  const auto objects = std::make_shared<const partition::Objects>(job, cluster);
  const int ranks = way.ranks < 0 ? static_cast<int>(objects->count()) : std::max(1, way.ranks);
  options.engine.queue = way.queue;
  options.engine.budget = budget(way);
  Outcome outcome;
  Recorder recorder(job, outcome);
  std::optional<executor::FoldedSink> folded;
  executor::RowSink* sink = &recorder;
  partition::Assignment assignment;
  if (way.folded) {
    options.folding = std::make_shared<const executor::Folding>(job, objects, options, executor::FoldMode::exact);
    assignment = options.folding->assign(ranks);
    sink = &folded.emplace(*objects, *options.folding, recorder);
  } else {
    assignment = partition::assign(job, objects, way.policy, ranks);
  }
  std::vector<engine::LocalEngine> engines;
  for (int rank = 0; rank < ranks; ++rank) {
    engines.push_back(executor::make_engine(job, cluster, options, assignment, rank, sink));
  }
  if (way.ranks == 0) {
    engine::run_sequential(engines.front(), {});
  } else {
    engine::run_windows(engines, *transport(ranks, way), {});
  }
  std::vector<executor::Result> results;
  for (const auto& engine : engines)
    results.push_back(executor::unpack(executor::pack(executor::collect(job, engine))));
  outcome.result = executor::merge(results);
  outcome.summary = analysis::to_json(analysis::summarize(job, cluster, outcome.result, {}));
  outcome.windows = engines.front().statistics().windows;
  return outcome;
}

Outcome run(const SmallJob& job, const Way& way) {
  const io::Experiment& experiment = job.prepared.experiment;
  return run(job.prepared.job, experiment.cluster, cli::executor_options(experiment.simulate), way);
}

}  // namespace proteus::property
