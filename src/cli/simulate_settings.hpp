// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proteus/engine/simulation.hpp"
#include "proteus/executor/folding.hpp"

namespace proteus::cli {

/// The command line of `proteus simulate`.
struct SimulateSettings {
  std::string experiment;
  std::vector<std::string> overrides;
  std::string output;
  std::string json;
  std::string partition;
  std::string partition_from;  ///< timeline of an earlier run; empty: none
  std::optional<executor::FoldMode> fold;
  int virtual_ranks = 0;  ///< 0: real ranks
  bool sequential = false;
  engine::QueueKind queue = engine::QueueKind::radix;
  double heartbeat = 0;  ///< seconds between two lines; 0: never
  std::string command_line;
};

/// Prints the help and returns nothing where it was asked for. Throws UsageError.
std::optional<SimulateSettings> parse_simulate_settings(const std::vector<std::string>& arguments);

}  // namespace proteus::cli
