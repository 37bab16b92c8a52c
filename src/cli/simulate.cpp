// SPDX-License-Identifier: Apache-2.0
#include <hdf5.h>

#include <iostream>
#include <memory>

#include "command.hpp"
#include "launcher.hpp"
#include "outputs.hpp"
#include "places.hpp"
#include "prepared_job.hpp"
#include "proteus/analysis/summary.hpp"
#include "proteus/base/error.hpp"
#include "proteus/executor/folding.hpp"
#include "proteus/partition/assignment.hpp"
#include "proteus/partition/placement.hpp"
#include "run.hpp"
#include "simulate_settings.hpp"
#include "stop.hpp"

namespace proteus::cli {

int run_simulate(const std::vector<std::string>& arguments) {
  const auto settings = parse_simulate_settings(arguments);
  if (!settings) return exit_success;
  const PreparedJob prepared = prepare(settings->experiment, settings->overrides);
  if (settings->fold) executor::Folding::check(executor_options(prepared.experiment.simulate), *settings->fold);
  partition::policy_from(settings->partition);  // a wrong one is told before MPI starts
  check_outputs(*settings, prepared.experiment);
  stop_on_signals();

  const auto objects = std::make_shared<const partition::Objects>(prepared.job, prepared.experiment.cluster);
  const std::vector<double> measured = measured_events(settings->partition_from, prepared, *objects);
  // HDF5 finds out once whether there is MPI: what was read before shall not have told it.
  if (!measured.empty()) H5close();

  const MpiSession mpi;
  if (mpi.ranks() > 1 && (settings->sequential || settings->virtual_ranks > 0)) {
    throw UsageError("--sequential and --virtual-ranks run in one process, without a launcher");
  }
  try {
    const auto json = open_json(*settings, mpi);
    Run run(*settings, prepared, mpi, objects, measured);
    // Told before the run: who gets a warning may want to start again.
    const partition::PlacementReport placement = partition::judge_placement(gather_places(mpi));
    for (const std::string& warning : placement.warnings) std::cerr << "proteus: warning: " + warning + "\n";
    analysis::Summary summary = run.execute();
    if (mpi.rank() == 0) {
      summary.engine.placement = placement;
      summary.engine.foldable_to = run.foldable_to(summary.engine.events);
      if (json) io::write_text(*json, analysis::to_json(summary));
      std::cout << analysis::to_text(summary);
      if (run.has_timeline()) std::cout << "timeline: " << settings->output << "\n";
    }
    return exit_success;
  } catch (const SimulationError& error) {
    // The engine throws it on every rank, so all of them leave in order.
    if (mpi.rank() == 0) std::cerr << "proteus: error: " << error.what() << "\n";
    return exit_failure;
  } catch (const StoppedError& error) {
    if (mpi.rank() == 0) std::cerr << "proteus: error: " << error.what() << "\n";
    return exit_stopped;
  } catch (const OutputError& error) {
    // The writer throws it on every rank; the summary is written when all else is done.
    if (mpi.rank() == 0) std::cerr << "proteus: error: " << error.what() << "\n";
    return exit_cannot_write;
  } catch (const std::exception& error) {
    // Perhaps this rank alone: the others may wait for it.
    if (mpi.ranks() < 2) throw;
    std::cerr << "proteus: error: rank " << mpi.rank() << ": " << error.what() << "\n";
    MPI_Abort(mpi.communicator(), exit_failure);
  }
  return exit_failure;
}

}  // namespace proteus::cli
