// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "proteus/base/error.hpp"

namespace proteus::partition {
namespace {

constexpr std::uint32_t no_domain = std::numeric_limits<std::uint32_t>::max();

/// Below this share of its latency, sharing links cannot move the end of a collective by more than what its price is
/// uncertain by.
constexpr double negligible_transfer = 0.01;

std::uint32_t find(std::vector<std::uint32_t>& parents, std::uint32_t x) {
  while (parents[x] != x) x = parents[x] = parents[parents[x]];
  return x;
}

}  // namespace

bool goes_on_fabric(const graph::CollectiveUse& use, const cost::CollectiveCost& price) {
  if (use.traffic == graph::Traffic::scalar || price.nic_bytes <= 0 || price.bandwidth.value <= 0) return false;
  return static_cast<double>(use.size.value) / price.bandwidth.value >=
         negligible_transfer * price.latency.to_seconds();
}

bool inside_replica(graph::Traffic traffic) {
  switch (traffic) {
    case graph::Traffic::tensor:
    case graph::Traffic::pipeline:
    case graph::Traffic::embedding:
      return true;
    case graph::Traffic::gradient:
    case graph::Traffic::parameter:
    case graph::Traffic::scalar:
      break;
  }
  return false;
}

Objects::Objects(const graph::Job& job, const cluster::Cluster& cluster)
    : job_(job),
      gpus_per_node_(std::max(1, cluster.node.gpus)),
      island_size_(job.island_size),
      islands_(static_cast<std::uint32_t>((job.devices + job.island_size - 1) / job.island_size)),
      links_(cluster) {
  if (job.devices > cluster.devices()) {
    throw SimulationError(fmt::format("the job has {} devices, the cluster {}", job.devices, cluster.devices()));
  }
  find_uses();
  number_communicators();
  find_domains();
}

std::int64_t Objects::end_device(std::uint32_t island) const {
  return std::min(job_.devices, first_device(island) + island_size_);
}

void Objects::find_uses() {
  std::vector<bool> runs(job_.collectives.size());
  std::vector<bool> phase_runs(job_.phases.size());
  for (const auto& program : job_.programs) {
    for (const auto& step : program.steps) phase_runs.at(step.phase) = true;
  }
  for (std::size_t p = 0; p < job_.phases.size(); ++p) {
    if (!phase_runs[p]) continue;
    for (const auto& op : job_.phases[p].ops) {
      if (!op.is_compute()) runs.at(op.collective) = true;
    }
  }
  uses_.resize(job_.families.size());
  for (std::uint32_t c = 0; c < runs.size(); ++c) {
    if (!runs[c]) continue;
    uses_.at(job_.collectives[c].family).push_back(c);
    for (const auto& [placement, price] : job_.collectives[c].cost) placements_.push_back(placement);
  }
  std::sort(placements_.begin(), placements_.end());
  placements_.erase(std::unique(placements_.begin(), placements_.end()), placements_.end());
}

std::uint32_t Objects::placement_index(std::uint32_t family, std::int64_t group) const {
  cost::Placement placement = job_.families[family].placement(group, gpus_per_node_);
  auto found = std::lower_bound(placements_.begin(), placements_.end(), placement);
  if (found == placements_.end() || *found != placement) {
    throw SimulationError(fmt::format("no collective has a price for {} #{}: {} members on {} nodes, {} a node",
                                      job_.families[family].name, group, placement.members, placement.nodes,
                                      placement.members_per_node));
  }
  return static_cast<std::uint32_t>(found - placements_.begin());
}

void Objects::number_communicators() {
  first_of_family_.push_back(0);
  for (std::uint32_t f = 0; f < job_.families.size(); ++f) {
    const auto& family = job_.families[f];
    std::int64_t groups = used(f) ? family.groups() : 0;
    for (std::int64_t group = 0; group < groups; ++group) {
      if (family.inside_island(group, island_size_)) continue;
      communicators_.push_back({f, group, placement_index(f, group)});
    }
    first_of_family_.push_back(static_cast<std::uint32_t>(communicators_.size()));
  }
}

std::optional<std::uint32_t> Objects::object_of(std::uint32_t family, std::int64_t group) const {
  auto begin = communicators_.begin() + first_of_family_[family];
  auto end = communicators_.begin() + first_of_family_[family + 1];
  // Where all groups of a family span islands, the group is the index.
  if (group < end - begin && begin[group].group == group) {
    return islands_ + first_of_family_[family] + static_cast<std::uint32_t>(group);
  }
  auto found = std::lower_bound(begin, end, group, [](const Communicator& c, std::int64_t g) { return c.group < g; });
  if (found == end || found->group != group) return std::nullopt;
  return islands_ + static_cast<std::uint32_t>(found - communicators_.begin());
}

std::vector<cost::Collective> Objects::fabric_kinds(std::uint32_t communicator_object) const {
  const Communicator& c = communicator(communicator_object);
  std::vector<cost::Collective> kinds;
  for (std::uint32_t use : uses(c.family)) {
    const auto& collective = job_.collectives[use];
    auto price = collective.cost.find(placements_[c.placement]);
    if (price == collective.cost.end() || !goes_on_fabric(collective, price->second)) continue;
    if (std::find(kinds.begin(), kinds.end(), collective.kind) == kinds.end()) kinds.push_back(collective.kind);
  }
  return kinds;
}

bool Objects::joins_domain(std::uint32_t communicator_object) const {
  const Communicator& c = communicator(communicator_object);
  return std::ranges::any_of(uses(c.family), [&](std::uint32_t use) {
    const auto& collective = job_.collectives[use];
    const auto price = collective.cost.find(placements_[c.placement]);
    return inside_replica(collective.traffic) && price != collective.cost.end() &&
           goes_on_fabric(collective, price->second);
  });
}

void Objects::find_domains() {
  Loads loads(communicators_.size());
  for (std::uint32_t i = 0; i < communicators_.size(); ++i) {
    const Communicator& c = communicators_[i];
    for (cost::Collective kind : fabric_kinds(islands_ + i)) {
      loads[i].emplace_back(kind, links_.uses(job_.families[c.family], c.group, kind));
    }
  }
  link_domain_.assign(links_.count(), no_domain);
  std::vector<std::uint32_t> parents(links_.count());
  std::iota(parents.begin(), parents.end(), 0u);
  std::vector<bool> joined(links_.count());
  const auto join = [&](std::uint32_t i, bool inner) {
    std::uint32_t anchor = no_domain;
    for (const auto& [kind, uses] : loads[i]) {
      for (const auto& use : uses) {
        if (!inner && joined[use.link]) continue;
        if (anchor == no_domain) anchor = use.link;
        parents[find(parents, use.link)] = find(parents, anchor);
      }
    }
  };
  std::vector<bool> inner(communicators_.size());
  for (std::uint32_t i = 0; i < communicators_.size(); ++i) {
    inner[i] = joins_domain(islands_ + i);
    if (inner[i]) join(i, true);
  }
  for (std::uint32_t i = 0; i < communicators_.size(); ++i) {
    if (!inner[i]) continue;
    for (const auto& [kind, uses] : loads[i]) {
      for (const auto& use : uses) joined[use.link] = true;
    }
  }
  for (std::uint32_t i = 0; i < communicators_.size(); ++i) {
    if (!inner[i]) join(i, false);
  }
  number_domains(loads, parents);
}

void Objects::number_domains(const Loads& loads, std::vector<std::uint32_t>& parents) {
  first_of_domains_.push_back(0);
  for (std::uint32_t i = 0; i < communicators_.size(); ++i) {
    std::vector<std::uint32_t> own;
    for (const auto& [kind, uses] : loads[i]) {
      for (const auto& use : uses) {
        const std::uint32_t root = find(parents, use.link);
        if (link_domain_[root] == no_domain) {
          link_domain_[root] = domains();
          members_.emplace_back();
        }
        link_domain_[use.link] = link_domain_[root];
        own.push_back(first_domain() + link_domain_[root]);
      }
    }
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    domains_.insert(domains_.end(), own.begin(), own.end());
    first_of_domains_.push_back(static_cast<std::uint32_t>(domains_.size()));
    for (std::uint32_t domain : own) members_[domain - first_domain()].push_back(islands_ + i);
    if (own.size() > 1) {
      for (const auto& [kind, uses] : loads[i]) spreads_[islands_ + i].push_back(spread(kind, uses));
    }
  }
  domain_links_.resize(members_.size());
  for (std::uint32_t link = 0; link < links_.count(); ++link) {
    if (link_domain_[link] != no_domain) domain_links_[link_domain_[link]].push_back(link);
  }
}

Objects::Spread Objects::spread(cost::Collective kind, const std::vector<FabricLinks::Use>& uses) const {
  std::map<std::uint32_t, std::vector<FabricLinks::Use>> parts;
  Spread result{kind, 0, {}};
  for (const auto& use : uses) {
    parts[first_domain() + link_domain_[use.link]].push_back(use);
    if (links_.is_nic(use.link)) result.busiest = std::max(result.busiest, use.weight);
  }
  result.parts.assign(parts.begin(), parts.end());
  return result;
}

std::span<const std::uint32_t> Objects::domains_of(std::uint32_t communicator_object) const {
  const std::uint32_t i = communicator_object - islands_;
  return std::span(domains_).subspan(first_of_domains_[i], first_of_domains_[i + 1] - first_of_domains_[i]);
}

std::span<const Objects::Spread> Objects::spreads_of(std::uint32_t communicator_object) const {
  const auto found = spreads_.find(communicator_object);
  return found == spreads_.end() ? std::span<const Spread>{} : std::span<const Spread>(found->second);
}

std::optional<std::uint32_t> Objects::domain_of_link(std::uint32_t link) const {
  if (link_domain_[link] == no_domain) return std::nullopt;
  return first_domain() + link_domain_[link];
}

}  // namespace proteus::partition
