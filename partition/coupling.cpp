// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/coupling.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <tuple>

#include "proteus/base/hash.hpp"

namespace proteus::partition {
namespace {

// Measured with catalog/experiments, see docs/performance.md; they scale predictions and no result.
constexpr double events_of_a_window = 10;     ///< what an exchange costs, in events
constexpr double windows_of_a_rare_one = 5;   ///< a collective that is promised: approach, arrivals, rates, end
constexpr double windows_of_an_open_one = 4;  ///< one within a replica that is cut: a window for each message of it
constexpr double bytes_of_a_device = 4.6 * 1024;

/// Instances of each family in one iteration, by program.
std::vector<std::vector<double>> count_instances(const graph::Job& job) {
  std::vector<std::vector<double>> by_phase(job.phases.size(), std::vector<double>(job.families.size()));
  for (std::size_t p = 0; p < job.phases.size(); ++p) {
    for (const auto& op : job.phases[p].ops) {
      if (!op.is_compute()) ++by_phase[p][job.collectives[op.collective].family];
    }
  }
  std::vector<std::vector<double>> by_program(job.programs.size(), std::vector<double>(job.families.size()));
  for (std::size_t n = 0; n < job.programs.size(); ++n) {
    for (const auto& step : job.programs[n].steps) {
      for (std::size_t f = 0; f < job.families.size(); ++f) by_program[n][f] += by_phase[step.phase][f];
    }
  }
  return by_program;
}

bool runs_often(const graph::Job& job, const Objects& objects, std::uint32_t family) {
  return std::ranges::any_of(objects.uses(family), [&](std::uint32_t use) {
    const graph::Traffic traffic = job.collectives[use].traffic;
    return traffic == graph::Traffic::tensor || traffic == graph::Traffic::pipeline;
  });
}

}  // namespace

CouplingGraph couplings(const graph::Job& job, const Objects& objects, std::span<const double> measured) {
  CouplingGraph graph;
  graph.islands = objects.islands();
  graph.events.resize(objects.count());
  const auto instances = count_instances(job);
  const double iterations = job.iterations;
  for (std::uint32_t island = 0; island < objects.islands(); ++island) {
    for (std::int64_t d = objects.first_device(island); d < objects.end_device(island); ++d) {
      // A collective is launched and ends, and lets the device go on in between.
      for (double count : instances[job.class_of(d)]) graph.events[island] += 2 * count * iterations;
    }
  }
  for (std::uint32_t object = objects.islands(); object < objects.first_domain(); ++object) {
    const auto& where = objects.communicator(object);
    const auto& family = job.families[where.family];
    const double count = instances[job.class_of(family.device(where.group, 0))][where.family];
    for (std::int64_t m = 0; m < family.members(); ++m) {
      const std::uint32_t island = objects.island_of(family.device(where.group, m));
      graph.edges.push_back({island, object, 2 * count * iterations, count});
      graph.events[object] += count * iterations;
    }
    for (std::uint32_t domain : objects.domains_of(object)) {
      graph.edges.push_back({object, domain, 2 * count * iterations, count});
      graph.events[object] += count * iterations;
      graph.events[domain] += 3 * count * iterations;
    }
  }
  if (!measured.empty()) {
    if (measured.size() != graph.events.size()) throw std::invalid_argument("measured events of another job");
    graph.events.assign(measured.begin(), measured.end());
  }
  return graph;
}

std::string fingerprint(const CouplingGraph& graph) {
  StateHash hash;
  hash.add(0, 0, graph.islands, graph.events.size());
  for (std::uint64_t i = 0; i < graph.edges.size(); ++i) {
    const CouplingGraph::Edge& edge = graph.edges[i];
    hash.add(1, i, std::uint64_t{edge.a} << 32 | edge.b, std::bit_cast<std::uint64_t>(edge.instances));
  }
  return hash.to_string();
}

Prediction predict(const graph::Job& job, const CouplingGraph& graph, const Assignment& assignment) {
  const Objects& objects = *assignment.objects;
  const auto& owner = *assignment.owner;
  const auto ranks = static_cast<std::size_t>(assignment.ranks);
  Prediction result;
  result.events.resize(ranks);
  result.objects.resize(ranks);
  result.devices.resize(ranks);
  double total = 0;
  for (std::uint32_t object = 0; object < objects.count(); ++object) {
    result.events[owner[object]] += graph.events[object];
    ++result.objects[owner[object]];
    total += graph.events[object];
    if (objects.is_island(object)) {
      result.devices[owner[object]] += objects.end_device(object) - objects.first_device(object);
    }
  }
  std::vector<bool> cut(objects.count());
  std::vector<double> instances(objects.count());
  for (const auto& edge : graph.edges) {
    const std::uint32_t communicator = objects.is_communicator(edge.a) ? edge.a : edge.b;
    instances[communicator] = edge.instances;
    if (owner[edge.a] == owner[edge.b]) continue;
    result.cut_messages += edge.messages;
    cut[communicator] = true;
  }
  if (assignment.ranks > 1) {
    // Replicas run side by side: what differs only by them falls into the same windows.
    std::set<std::tuple<std::uint32_t, std::uint32_t>> counted;  // family, stage
    for (std::uint32_t object = objects.islands(); object < objects.first_domain(); ++object) {
      const auto& where = objects.communicator(object);
      const bool often = runs_often(job, objects, where.family);
      const std::int64_t first = job.families[where.family].device(where.group, 0);
      if ((often && !cut[object]) || !counted.emplace(where.family, job.stage_of(first)).second) continue;
      result.windows += instances[object] * job.iterations * (often ? windows_of_an_open_one : windows_of_a_rare_one);
    }
  }
  const double most = *std::max_element(result.events.begin(), result.events.end());
  if (most > 0) {
    result.balance = total / static_cast<double>(ranks) / most;
    result.efficiency = total / static_cast<double>(ranks) / (most + events_of_a_window * result.windows);
  }
  result.memory_bytes =
      bytes_of_a_device * static_cast<double>(*std::max_element(result.devices.begin(), result.devices.end()));
  return result;
}

}  // namespace proteus::partition
