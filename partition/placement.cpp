// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "matching.hpp"
#include "proteus/base/error.hpp"
#include "topology.hpp"

namespace proteus::partition {
namespace {

constexpr std::string_view how_to_bind =
    "give each a core of its own: mpirun --bind-to core --map-by core, or srun --cpu-bind=cores";

/// Kinds of warnings, in the order in which they are told.
enum class Trouble { crowded, shared_core, shared_threads, numa, unbound_numa };
constexpr std::size_t troubles = 5;

/// The first of a kind, and on how many more hosts there is one.
struct Warning {
  std::string text;
  int more_hosts = 0;
};
using Warnings = std::array<std::optional<Warning>, troubles>;

/// "rank 3 is", "ranks 0-3, 8 are".
std::string ranks_are(const std::vector<int>& ranks) {
  return fmt::format("rank{} {} {}", ranks.size() == 1 ? "" : "s", ranges_text(ranks),
                     ranks.size() == 1 ? "is" : "are");
}

/// The ranks of one host.
class HostRanks {
 public:
  explicit HostRanks(std::vector<const RankPlace*> places) : places_(std::move(places)) {
    for (const RankPlace* place : places_) {
      for (const HardwareThread& thread : place->usable) threads_.emplace(thread.number, thread);
    }
    for (const auto& [number, thread] : threads_) {
      cores_.insert(thread.core);
      nodes_.insert(thread.numa_node);
    }
  }

  PlacementReport::Host report() const {
    PlacementReport::Host host;
    host.name = places_.front()->host;
    host.cores = static_cast<int>(cores_.size());
    host.hardware_threads = static_cast<int>(threads_.size());
    host.numa_nodes = static_cast<int>(nodes_.size());
    host.ranks = static_cast<int>(places_.size());
    std::map<std::vector<int>, std::size_t> known;
    for (const RankPlace* place : places_) {
      const auto [entry, is_new] = known.try_emplace(place->bound, host.bindings.size());
      if (is_new) {
        host.bindings.push_back(
            {{}, of(*place, &HardwareThread::core), of(*place, &HardwareThread::numa_node), bound(*place)});
      }
      host.bindings[entry->second].ranks.push_back(place->rank);
    }
    return host;
  }

  void warn(Warnings& warnings) const {
    if (threads_.empty()) return;
    warn_of_shared_cores(warnings);
    if (nodes_.size() < 2) return;
    std::vector<int> unbound;
    std::vector<int> astride;
    for (const RankPlace* place : places_) {
      if (of(*place, &HardwareThread::numa_node).size() < 2) continue;
      (bound(*place) ? astride : unbound).push_back(place->rank);
    }
    if (!astride.empty()) {
      add(warnings, Trouble::numa,
          fmt::format("{} bound to cores of several of the {} NUMA nodes of {}, and may run far from {} memory; {}",
                      ranks_are(astride), nodes_.size(), name(), astride.size() == 1 ? "its" : "their", how_to_bind));
    }
    if (!unbound.empty()) {
      add(warnings, Trouble::unbound_numa,
          fmt::format("{} not bound on {}, which has {} NUMA nodes, and may run far from {} memory; {}",
                      ranks_are(unbound), name(), nodes_.size(), unbound.size() == 1 ? "its" : "their", how_to_bind));
    }
  }

 private:
  const std::string& name() const { return places_.front()->host; }
  bool bound(const RankPlace& place) const { return !place.bound.empty() && place.bound.size() < threads_.size(); }

  std::vector<int> of(const RankPlace& place, int HardwareThread::*what) const {
    std::set<int> numbers;
    for (int number : place.bound) {
      if (const auto thread = threads_.find(number); thread != threads_.end()) numbers.insert(thread->second.*what);
    }
    return {numbers.begin(), numbers.end()};
  }

  static void add(Warnings& warnings, Trouble trouble, std::string text) {
    auto& warning = warnings[static_cast<std::size_t>(trouble)];
    if (warning) {
      ++warning->more_hosts;
    } else {
      warning = Warning{std::move(text)};
    }
  }

  void warn_of_shared_cores(Warnings& warnings) const {
    if (places_.size() > cores_.size()) {
      add(warnings, Trouble::crowded,
          fmt::format("{} ranks share the {} core{} of {}: they wait for each other at every window, so start no more "
                      "ranks than there are cores",
                      places_.size(), cores_.size(), cores_.size() == 1 ? "" : "s", name()));
      return;
    }
    std::vector<const RankPlace*> known;
    std::vector<std::vector<int>> choices;
    for (const RankPlace* place : places_) {
      std::vector<int> cores = of(*place, &HardwareThread::core);
      if (cores.empty()) continue;
      known.push_back(place);
      choices.push_back(std::move(cores));
    }
    const std::vector<std::size_t> crowd = crowd_of(choices);
    if (crowd.empty()) return;
    std::vector<int> ranks;
    std::set<int> cores;
    std::vector<std::vector<int>> threads;
    for (std::size_t index : crowd) {
      ranks.push_back(known[index]->rank);
      cores.insert(choices[index].begin(), choices[index].end());
      threads.push_back(known[index]->bound);
    }
    const std::vector<int> numbers(cores.begin(), cores.end());
    const std::string which = fmt::format("core{} {}", numbers.size() == 1 ? "" : "s", ranges_text(numbers));
    if (crowd_of(threads).empty()) {
      add(warnings, Trouble::shared_threads,
          fmt::format("{} bound to hardware threads of the same {} of {}, which slow each other down; {}",
                      ranks_are(ranks), which, name(), how_to_bind));
    } else {
      add(warnings, Trouble::shared_core,
          fmt::format("{} bound to {} of {} and must take turns, while others are free; {}", ranks_are(ranks), which,
                      name(), how_to_bind));
    }
  }

  std::vector<const RankPlace*> places_;
  std::map<int, HardwareThread> threads_;  ///< that any of them may use
  std::set<int> cores_;
  std::set<int> nodes_;
};

}  // namespace

std::string ranges_text(std::span<const int> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) fmt::format_to(std::back_inserter(text), "{}{}", last > i + 1 ? "-" : ", ", numbers[last]);
    i = last + 1;
  }
  return text;
}

PlacementReport judge_placement(std::span<const RankPlace> places) {
  std::vector<std::vector<const RankPlace*>> by_host;
  std::map<std::string, std::size_t> known;
  for (const RankPlace& place : places) {
    const auto [entry, is_new] = known.try_emplace(place.host, by_host.size());
    if (is_new) by_host.emplace_back();
    by_host[entry->second].push_back(&place);
  }
  PlacementReport report;
  Warnings warnings;
  for (auto& ranks : by_host) {
    const HostRanks host(std::move(ranks));
    report.hosts.push_back(host.report());
    if (places.size() > 1) host.warn(warnings);
  }
  for (const auto& warning : warnings) {
    if (!warning) continue;
    report.warnings.push_back(warning->text);
    if (warning->more_hosts > 0) {
      report.warnings.back() +=
          fmt::format(" (so it is on {} more host{})", warning->more_hosts, warning->more_hosts > 1 ? "s" : "");
    }
  }
  return report;
}

RankPlace current_place(int rank, std::string host) {
  RankPlace place{rank, std::move(host), {}, {}};
  try {
    const Topology topology = Topology::of_this_machine();
    place.usable = topology.usable();
    if (auto bound = topology.bound()) {
      place.bound = std::move(*bound);
    } else {
      for (const HardwareThread& thread : place.usable) place.bound.push_back(thread.number);
    }
  } catch (const SimulationError&) {
    place.usable.clear();
  }
  return place;
}

}  // namespace proteus::partition
