// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proteus/base/hash.hpp"
#include "proteus/base/time_sum.hpp"
#include "proteus/cluster/cluster.hpp"
#include "proteus/engine/simulation.hpp"
#include "proteus/executor/row_sink.hpp"
#include "proteus/graph/program.hpp"

namespace proteus::executor {

class Folding;

enum class NetworkMode : std::uint8_t { max_min, fair_share };

struct Delay {
  std::int64_t device = 0;
  std::int64_t position = 0;
  Time by;
};

struct Options {
  NetworkMode network = NetworkMode::max_min;
  std::uint64_t seed = 0;
  double compute_jitter = 0;  ///< relative standard deviation; factors lie in [1 - 3 sigma, 1 + 3 sigma], at least 0.5
  std::vector<Delay> delays;  ///< added to the duration of single compute ops
  /// What stands for what; null where everything is simulated. Made with the same options.
  std::shared_ptr<const Folding> folding;
  engine::EngineOptions engine;  ///< names are filled in by make_engine
};

/// Where the time of devices went in one iteration; the fields add up to the length of the iteration times the devices.
struct Breakdown {
  TimeSum compute;
  std::array<TimeSum, graph::traffic_count> exposed{};  ///< compute stream idle while the data of a collective moved
  TimeSum bubble;                                       ///< waiting for a neighbour stage that had nothing to send yet
  TimeSum skew;                                         ///< waiting for late members of another collective
  TimeSum host;                                         ///< waiting for the host to issue
  TimeSum idle;                                         ///< after its own end, until the last device ends
};

/// What one class of devices did in the last iteration: sums over its devices.
struct ClassResult {
  std::int64_t devices = 0;
  Breakdown sum;
};

/// The outcome of a run. After merge() over all ranks it is the same everywhere.
struct Result {
  std::vector<Time> iteration_end;   ///< over all devices, one an iteration
  std::vector<ClassResult> classes;  ///< parallel to Job::programs
  StateHash hash;
  std::uint64_t rows = 0;         ///< op instances
  std::uint64_t collectives = 0;  ///< instances completed
};

}  // namespace proteus::executor
