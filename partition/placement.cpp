// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/placement.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <array>
#include <memory>

#include "proteus/base/error.hpp"

namespace proteus::partition {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw SimulationError("hwloc cannot be initialized");
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) throw SimulationError("hwloc cannot read the topology of this machine");
  return topology;
}

}  // namespace

Binding current_binding() {
  Topology topology = load_topology();
  Binding binding;
  binding.cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
  Bitmap set(hwloc_bitmap_alloc());
  if (!set || hwloc_get_cpubind(topology.get(), set.get(), HWLOC_CPUBIND_PROCESS) != 0) return binding;
  Bitmap numbers(hwloc_bitmap_alloc());
  if (!numbers) return binding;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr;) {
    if (!hwloc_bitmap_intersects(core->cpuset, set.get())) continue;
    ++binding.allowed;
    hwloc_bitmap_set(numbers.get(), core->logical_index);
  }
  std::array<char, 1024> text{};
  hwloc_bitmap_list_snprintf(text.data(), text.size(), numbers.get());
  binding.core_set = text.data();
  return binding;
}

std::string crowding_warning(const Binding& binding, int ranks_on_node) {
  if (binding.cores > 0 && ranks_on_node > binding.cores) {
    return fmt::format(
        "{} ranks share the {} cores of this node: they wait for each other at every window, so give each "
        "a core of its own",
        ranks_on_node, binding.cores);
  }
  return {};
}

}  // namespace proteus::partition
