// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proteus/cluster/cluster.hpp"
#include "proteus/cost/cost.hpp"
#include "proteus/executor/run.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/partition/placement.hpp"

namespace proteus::analysis {

/// Mean time of one device in the last iteration, seconds; the fields add up to the iteration time.
struct BreakdownSeconds {
  double compute = 0;
  std::map<std::string, double> exposed;  ///< by Traffic name
  double bubble = 0;
  double host = 0;
  double skew = 0;  ///< waiting for late members of a collective
  double idle = 0;  ///< from the device's own end to the end of the last device
  double total() const;
};

struct ClassSummary {
  std::string name;
  std::int64_t devices = 0;
  BreakdownSeconds breakdown;
  graph::MemoryPlan memory;
};

/// How the run was made: everything that may differ between equal runs, but for the hash.
struct EngineSummary {
  std::string state_hash;
  std::string mode;  ///< "sequential", "virtual ranks", "mpi"
  std::int64_t ranks = 1;
  std::string fold = "none";             ///< "none", "exact", "approx"
  std::int64_t devices_simulated = 0;    ///< others are like them
  std::vector<std::string> assumptions;  ///< of approximate folding
  std::uint64_t events = 0;
  std::uint64_t rows = 0;
  std::uint64_t collectives = 0;
  std::uint64_t windows = 0;
  std::uint64_t perfect_windows = 0;  ///< that exact promises would have needed
  std::uint64_t messages_local = 0;
  std::uint64_t messages_remote = 0;
  double seconds = 0;  ///< wall time of the simulation, without compilation
  double seconds_compile = 0;
  double seconds_events = 0;           ///< largest over ranks
  double seconds_synchronization = 0;  ///< largest over ranks
  double balance = 1;                  ///< mean over largest number of events of a rank
  std::size_t program_bytes = 0;
  std::size_t classes = 0;
  std::int64_t foldable_to =
      0;  ///< devices from which exact folding would give the same; 0: not looked for, or not less
  partition::PlacementReport placement;  ///< known on rank 0 only
};

/// What `proteus simulate` tells; docs/summary.md names every field with its unit.
struct Summary {
  double iteration_time_s = 0;       ///< of the last iteration
  std::vector<double> iterations_s;  ///< of each iteration
  double tokens_per_s = 0;
  double samples_per_s = 0;
  double model_tflops_per_gpu = 0;  ///< model FLOPs (no recompute, attention not halved for causality)
  double mfu = 0;                   ///< fraction of the dense peak of the training type
  BreakdownSeconds breakdown;       ///< mean over all devices
  std::vector<ClassSummary> classes;
  Bytes capacity;
  bool oom = false;
  std::map<std::string, double> compute_share;        ///< of compute time, by Provenance name
  std::map<std::string, double> communication_share;  ///< of communication time on idle links
  std::int64_t devices = 0;
  EngineSummary engine;
};

Summary summarize(const graph::Job& job, const cluster::Cluster& cluster, const executor::Result& result,
                  EngineSummary engine);

std::string to_text(const Summary& summary);
std::string to_json(const Summary& summary);

}  // namespace proteus::analysis
