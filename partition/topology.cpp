// SPDX-License-Identifier: Apache-2.0
#include "topology.hpp"

#include "proteus/base/error.hpp"

namespace proteus::partition {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

}  // namespace

Topology::Topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw SimulationError("hwloc cannot be initialized");
  topology_.reset(raw);
}

void Topology::load() {
  // With all that other jobs have, or processes of this one in other control groups, numbers mean the same to
  // everybody.
  hwloc_topology_set_flags(topology_.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(topology_.get()) != 0) throw SimulationError("hwloc cannot read the topology of the machine");
}

Topology Topology::of_this_machine() {
  Topology topology;
  topology.load();
  return topology;
}

Topology Topology::synthetic(const std::string& description) {
  Topology topology;
  if (hwloc_topology_set_synthetic(topology.topology_.get(), description.c_str()) != 0) {
    throw SimulationError("hwloc does not know a machine like '" + description + "'");
  }
  topology.load();
  return topology;
}

HardwareThread Topology::thread(hwloc_obj_t unit) const {
  const auto number = static_cast<int>(unit->logical_index);
  hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology_.get(), HWLOC_OBJ_CORE, unit);
  // Where a core reaches several kinds of memory, the first tells it from the cores that reach others.
  const int memory = unit->nodeset == nullptr ? -1 : hwloc_bitmap_first(unit->nodeset);
  hwloc_obj_t node =
      memory < 0 ? nullptr : hwloc_get_numanode_obj_by_os_index(topology_.get(), static_cast<unsigned>(memory));
  return {number, core == nullptr ? number : static_cast<int>(core->logical_index),
          node == nullptr ? 0 : static_cast<int>(node->logical_index)};
}

std::vector<HardwareThread> Topology::usable() const {
  std::vector<HardwareThread> threads;
  const hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(topology_.get());
  for (hwloc_obj_t unit = nullptr;
       (unit = hwloc_get_next_obj_by_type(topology_.get(), HWLOC_OBJ_PU, unit)) != nullptr;) {
    if (hwloc_bitmap_intersects(unit->cpuset, allowed) != 0) threads.push_back(thread(unit));
  }
  return threads;
}

std::optional<std::vector<int>> Topology::bound() const {
  const Bitmap set(hwloc_bitmap_alloc());
  if (!set || hwloc_get_cpubind(topology_.get(), set.get(), HWLOC_CPUBIND_PROCESS) != 0) return std::nullopt;
  std::vector<int> numbers;
  for (hwloc_obj_t unit = nullptr;
       (unit = hwloc_get_next_obj_by_type(topology_.get(), HWLOC_OBJ_PU, unit)) != nullptr;) {
    if (hwloc_bitmap_intersects(unit->cpuset, set.get()) != 0) numbers.push_back(static_cast<int>(unit->logical_index));
  }
  return numbers;
}

}  // namespace proteus::partition
