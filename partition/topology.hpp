// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwloc.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proteus/partition/placement.hpp"

namespace proteus::partition {

/// The cores and NUMA nodes of a machine. Throws SimulationError where hwloc cannot read it.
class Topology {
 public:
  static Topology of_this_machine();
  /// A machine as hwloc describes one, "numa:2 core:4 pu:2": for tests.
  static Topology synthetic(const std::string& description);

  /// All that this process and its like may use, by number.
  std::vector<HardwareThread> usable() const;
  /// Numbers of those that this process is bound to; nothing where the system does not tell.
  std::optional<std::vector<int>> bound() const;

 private:
  struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  };
  Topology();
  void load();
  HardwareThread thread(hwloc_obj_t unit) const;

  std::unique_ptr<hwloc_topology, Destroy> topology_;
};

}  // namespace proteus::partition
