// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proteus/engine/simulation.hpp"

namespace proteus::cli {

/// Tells now and then how far a run is.
class Heartbeat {
 public:
  /// `seconds` of wall time between two lines, 0: never. `total_rows`: of the whole run, 0 where that is not known.
  Heartbeat(double seconds, std::uint64_t total_rows);

  /// Whether a line is due; true at most once a period.
  bool due();

  /// "simulated 1.25 s, 42.0 % of rows, 4.61e+06 events/s, 1.2e+03 windows/s, rank 3 slowest (97 % busy), 12 s left".
  /// Rates are those since the last line, busy is the share of wall time in events.
  std::string line(std::span<const engine::Pulse> pulses);

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_;
  std::uint64_t total_rows_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_due_ = begin_;
  Clock::time_point last_line_ = begin_;
  std::vector<engine::Pulse> last_;
};

/// What `--heartbeat` says, or, where it does not: every few seconds if standard error is a terminal, never otherwise.
double heartbeat_seconds(const double* asked);

}  // namespace proteus::cli
