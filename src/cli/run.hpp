// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "launcher.hpp"
#include "prepared_job.hpp"
#include "proteus/analysis/summary.hpp"
#include "proteus/engine/simulation.hpp"
#include "proteus/executor/folding.hpp"
#include "proteus/io/timeline.hpp"
#include "proteus/partition/assignment.hpp"
#include "simulate_settings.hpp"

namespace proteus::cli {

/// One run: what the ranks of this process do together.
class Run {
 public:
  /// Collective. `measured`: events of an earlier run, by object; empty without one. Throws OutputError, on all ranks,
  /// where the timeline cannot be written.
  Run(const SimulateSettings& settings, const PreparedJob& prepared, const MpiSession& mpi,
      std::shared_ptr<const partition::Objects> objects, std::span<const double> measured);

  bool has_timeline() const { return writer_ != nullptr; }

  /// See analysis::EngineSummary. To look for it takes some hundredths of the time of a run that is worth it.
  std::int64_t foldable_to(std::uint64_t events) const;

  /// Everything up to the summary, which is the same on every rank. Throws SimulationError, StoppedError or OutputError
  /// on every rank.
  analysis::Summary execute();

 private:
  partition::Assignment assign(std::span<const double> measured);
  void open_timeline();
  void simulate();
  /// Folded runs are small, and what stands for what joins ranks that the model does not.
  std::optional<std::vector<int>> neighbours() const;
  void add_statistics(analysis::EngineSummary& engine) const;
  void finish_timeline(const analysis::Summary& summary);

  const SimulateSettings& settings_;
  const PreparedJob& prepared_;
  const graph::Job& job_;
  const MpiSession& mpi_;
  int ranks_;
  std::shared_ptr<const partition::Objects> objects_;
  executor::Options options_ = executor_options(prepared_.experiment.simulate);
  partition::Assignment assignment_;
  std::vector<int> local_;
  std::unique_ptr<io::TimelineWriter> writer_;
  std::int64_t rows_limit_ = 0;
  std::unique_ptr<executor::FoldedSink> folded_sink_;
  std::vector<engine::LocalEngine> engines_;
};

}  // namespace proteus::cli
