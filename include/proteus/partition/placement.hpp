// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace proteus::partition {

/// One hardware thread of a machine. Numbers count over the whole machine, the same for every process on it.
struct HardwareThread {
  int number = 0;
  int core = 0;
  int numa_node = 0;
  bool operator==(const HardwareThread&) const = default;
};

/// Where one rank may run.
struct RankPlace {
  int rank = 0;
  std::string host;
  std::vector<HardwareThread> usable;  ///< that the system lets the job use here; empty where it does not tell
  std::vector<int> bound;              ///< numbers of those that the rank is bound to, ascending; all where it is not
};

/// Of this process, asked of hwloc; with nothing usable where hwloc fails, for no run depends on it.
RankPlace current_place(int rank, std::string host);

/// What the ranks of a job found, judged.
struct PlacementReport {
  /// Ranks with equal bindings.
  struct Binding {
    std::vector<int> ranks;
    std::vector<int> cores;
    std::vector<int> numa_nodes;
    bool bound = false;  ///< to less than the job may use on this host
  };
  struct Host {
    std::string name;
    int cores = 0;  ///< that the job may use; 0 where the system does not tell
    int hardware_threads = 0;
    int numa_nodes = 0;  ///< with such cores
    int ranks = 0;
    std::vector<Binding> bindings;  ///< in the order of their first rank
  };
  std::vector<Host> hosts;            ///< in the order of their first rank
  std::vector<std::string> warnings;  ///< each with what to do; one of a kind, however many hosts it is true of
};

/// Ranks wait for each other at every window, so each should have a core of its own, close to its memory. Warns where
/// ranks have to share a core, because there are too few or because they are bound to the same, and where one may move
/// between NUMA nodes. A job of one rank is only reported.
PlacementReport judge_placement(std::span<const RankPlace> places);

/// Ascending numbers as "0-3, 8".
std::string ranges_text(std::span<const int> numbers);

}  // namespace proteus::partition
