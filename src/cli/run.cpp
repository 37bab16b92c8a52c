// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "heartbeat.hpp"
#include "proteus/engine/mpi_transport.hpp"
#include "proteus/executor/simulation.hpp"
#include "proteus/partition/coupling.hpp"
#include "proteus/partition/neighbours.hpp"
#include "proteus/version.hpp"
#include "stop.hpp"

namespace proteus::cli {
namespace {

// Of the timeline, that a rank completes before others get the time to write them: some 100 MB.
constexpr std::int64_t segments_a_window = 2;

// About a second (docs/performance.md).
constexpr std::uint64_t events_worth_folding = 5'000'000;

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

/// Rows of the whole run.
std::uint64_t rows_of(const graph::Job& job) {
  std::int64_t rows = 0;
  for (std::int64_t device = 0; device < job.devices; ++device) rows += job.programs[job.class_of(device)].rows();
  return static_cast<std::uint64_t>(rows * job.iterations);
}

}  // namespace

Run::Run(const SimulateSettings& settings, const PreparedJob& prepared, const MpiSession& mpi,
         std::shared_ptr<const partition::Objects> objects, std::span<const double> measured)
    : settings_(settings),
      prepared_(prepared),
      job_(prepared.job),
      mpi_(mpi),
      ranks_(settings.virtual_ranks > 0 ? settings.virtual_ranks : mpi.ranks()),
      objects_(std::move(objects)),
      assignment_(assign(measured)) {
  options_.engine.queue = settings.queue;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (settings.virtual_ranks > 0 || rank == mpi.rank()) local_.push_back(rank);
  }
  if (!settings.output.empty() && prepared.experiment.simulate.trace != io::TraceLevel::none) open_timeline();
  if (writer_ && options_.folding) {
    folded_sink_ = std::make_unique<executor::FoldedSink>(*objects_, *options_.folding, *writer_);
  }
  executor::RowSink* sink = folded_sink_ ? folded_sink_.get() : static_cast<executor::RowSink*>(writer_.get());
  try {
    for (int rank : local_) {
      engines_.push_back(executor::make_engine(job_, prepared.experiment.cluster, options_, assignment_, rank, sink));
    }
  } catch (const SimulationError& error) {
    // What no other rank may have met must not pass for what all of them throw.
    if (mpi.ranks() < 2) throw;
    throw std::runtime_error(error.what());
  }
}

std::int64_t Run::foldable_to(std::uint64_t events) const {
  if (options_.folding || options_.compute_jitter > 0 || events < events_worth_folding) return 0;
  const executor::Folding folding(job_, objects_, options_, executor::FoldMode::exact);
  return 2 * folding.devices() <= job_.devices ? folding.devices() : 0;
}

analysis::Summary Run::execute() {
  const auto begin = std::chrono::steady_clock::now();
  simulate();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  std::vector<executor::Result> results;
  for (const auto& engine : engines_) results.push_back(executor::collect(job_, engine));
  analysis::EngineSummary engine;
  engine.mode = settings_.sequential          ? "sequential"
                : settings_.virtual_ranks > 0 ? "virtual ranks"
                : mpi_.active()               ? "mpi"
                                              : "one process";
  engine.ranks = ranks_;
  engine.seconds = seconds;
  engine.seconds_compile = prepared_.compile_seconds;
  engine.devices_simulated = job_.devices;
  if (options_.folding) {
    engine.fold = options_.folding->mode() == executor::FoldMode::exact ? "exact" : "approx";
    engine.devices_simulated = options_.folding->devices();
    engine.assumptions = options_.folding->assumptions();
  }
  add_statistics(engine);
  if (settings_.virtual_ranks == 0) {
    const auto packed = mpi_.gather(executor::pack(results.front()));
    results.clear();
    for (const auto& words : packed) results.push_back(executor::unpack(words));
  }
  const executor::Result all = executor::merge(results);
  analysis::Summary summary = analysis::summarize(job_, prepared_.experiment.cluster, all, engine);
  if (writer_) finish_timeline(summary);
  return summary;
}

partition::Assignment Run::assign(std::span<const double> measured) {
  if (!settings_.fold) {
    return partition::assign(job_, objects_, partition::policy_from(settings_.partition), ranks_, measured);
  }
  options_.folding = std::make_shared<const executor::Folding>(job_, objects_, options_, *settings_.fold);
  return options_.folding->assign(ranks_);
}

void Run::open_timeline() {
  io::TimelineOptions options;
  options.file = settings_.output;
  options.level = prepared_.experiment.simulate.trace;
  options.devices = prepared_.experiment.simulate.trace_devices;
  options.compress = prepared_.experiment.simulate.compress != "none";
  io::TimelineHeader header;
  header.resolved_config = prepared_.experiment.resolved;
  header.seed = prepared_.experiment.simulate.seed;
  header.version = version;
  header.engine = {{"git_revision", git_revision},
                   {"command_line", settings_.command_line},
                   {"date", date_text()},
                   {"ranks", std::to_string(ranks_)},
                   {"partition", std::string(partition::name_of(assignment_.kind))}};
  std::vector<std::int64_t> devices;
  for (int rank : local_) {
    const auto own = options_.folding ? options_.folding->devices_of(assignment_, rank)
                                      : partition::local_devices(assignment_, rank);
    devices.insert(devices.end(), own.begin(), own.end());
  }
  std::sort(devices.begin(), devices.end());
  writer_ = std::make_unique<io::TimelineWriter>(options, header, job_, devices, mpi_.communicator());
}

void Run::simulate() {
  engine::Hooks hooks;
  hooks.progress = [this](int) {
    if (stop_requested()) throw StoppedError("stopped by a signal");
    if (!writer_) return std::int64_t{0};
    // What is complete is written between windows, so a rank must not run far beyond it.
    rows_limit_ = writer_->complete_segments() + segments_a_window;
    return writer_->complete_segments();
  };
  hooks.full = [this](int) { return stop_requested() || (writer_ && writer_->complete_segments() >= rows_limit_); };
  hooks.advanced = [this](int rank, std::int64_t agreed) {
    // One writer serves all virtual ranks.
    if (writer_ && rank == local_.front()) writer_->write_until(agreed);
  };
  Heartbeat heartbeat(settings_.heartbeat, rows_of(job_));
  hooks.pulse_due = [&heartbeat] { return heartbeat.due(); };
  hooks.rows = [this](int rank) {
    return executor::collect(job_, engines_[static_cast<std::size_t>(rank - local_.front())]).rows;
  };
  hooks.pulse = [&heartbeat](std::span<const engine::Pulse> pulses) {
    std::cerr << "proteus: " + heartbeat.line(pulses) + "\n";
  };
  if (settings_.sequential || (ranks_ == 1 && settings_.virtual_ranks == 0)) {
    engine::run_sequential(engines_.front(), hooks);
  } else {
    const auto transport = settings_.virtual_ranks > 0 ? engine::make_in_process_transport(ranks_)
                                                       : engine::make_mpi_transport(mpi_.communicator(), neighbours());
    engine::run_windows(engines_, *transport, hooks);
  }
}

std::optional<std::vector<int>> Run::neighbours() const {
  if (options_.folding) return std::nullopt;
  return partition::neighbours(job_, assignment_, mpi_.rank());
}

void Run::add_statistics(analysis::EngineSummary& engine) const {
  std::vector<std::vector<std::int64_t>> by_rank;
  for (const auto& local : engines_) {
    const engine::Statistics& s = local.statistics();
    by_rank.push_back({static_cast<std::int64_t>(s.events), static_cast<std::int64_t>(s.windows),
                       static_cast<std::int64_t>(s.messages_local), static_cast<std::int64_t>(s.messages_remote),
                       static_cast<std::int64_t>(s.seconds_events * 1e9),
                       static_cast<std::int64_t>(s.seconds_synchronization * 1e9),
                       static_cast<std::int64_t>(s.perfect_windows)});
  }
  if (settings_.virtual_ranks == 0) by_rank = mpi_.gather(by_rank.front());
  std::uint64_t most = 0;
  for (const auto& words : by_rank) {
    engine.events += static_cast<std::uint64_t>(words[0]);
    most = std::max(most, static_cast<std::uint64_t>(words[0]));
    engine.windows = std::max(engine.windows, static_cast<std::uint64_t>(words[1]));
    engine.perfect_windows = std::max(engine.perfect_windows, static_cast<std::uint64_t>(words[6]));
    engine.messages_local += static_cast<std::uint64_t>(words[2]);
    engine.messages_remote += static_cast<std::uint64_t>(words[3]);
    engine.seconds_events = std::max(engine.seconds_events, static_cast<double>(words[4]) * 1e-9);
    engine.seconds_synchronization = std::max(engine.seconds_synchronization, static_cast<double>(words[5]) * 1e-9);
  }
  if (most > 0)
    engine.balance =
        static_cast<double>(engine.events) / static_cast<double>(most) / static_cast<double>(by_rank.size());
}

void Run::finish_timeline(const analysis::Summary& summary) {
  writer_->add_summary("iteration_time", summary.iterations_s, "s");
  writer_->add_attribute("state_hash", summary.engine.state_hash);
  writer_->add_engine("events", std::to_string(summary.engine.events));
  writer_->add_engine("windows", std::to_string(summary.engine.windows));
  writer_->add_engine("seconds", std::to_string(summary.engine.seconds));
  // What is folded counts for several, and not what all of them would have.
  if (!options_.folding) {
    std::vector<std::uint64_t> events(objects_->count());
    for (const auto& engine : engines_) engine.count_events(events);
    mpi_.sum_on_first(events);
    if (mpi_.rank() == 0) {
      const auto graph = partition::couplings(job_, *objects_);
      writer_->add_event_counts(io::event_counts(*objects_, graph, std::move(events)));
    }
  }
  writer_->close();
}

}  // namespace proteus::cli
