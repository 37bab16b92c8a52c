// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace proteus::partition {

/// Where this process may run on its machine.
struct Binding {
  int cores = 0;         ///< cores of the machine
  int allowed = 0;       ///< cores that this process may use; 0 where the system does not tell
  std::string core_set;  ///< their numbers, "0-3,8"
};

/// Asks hwloc. Throws SimulationError where the topology cannot be read.
Binding current_binding();

/// A warning for the user where `ranks_on_node` ranks share too few cores; empty where all is well. Ranks wait for each
/// other at every window, so two on one core run one after the other.
std::string crowding_warning(const Binding& binding, int ranks_on_node);

}  // namespace proteus::partition
