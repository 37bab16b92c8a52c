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

void Objects::find_domains() {
  domain_.assign(communicators_.size(), no_domain);
  std::vector<std::uint32_t> parents(links_.count());
  std::iota(parents.begin(), parents.end(), 0u);
  std::vector<std::uint32_t> anchor(communicators_.size(), no_domain);
  for (std::size_t i = 0; i < communicators_.size(); ++i) {
    const Communicator& c = communicators_[i];
    for (cost::Collective kind : fabric_kinds(islands_ + static_cast<std::uint32_t>(i))) {
      for (const auto& use : links_.uses(job_.families[c.family], c.group, kind)) {
        std::uint32_t root = find(parents, use.link);
        if (anchor[i] == no_domain) anchor[i] = root;
        parents[root] = find(parents, anchor[i]);
      }
    }
  }
  std::vector<std::uint32_t> number(links_.count(), no_domain);
  for (std::size_t i = 0; i < communicators_.size(); ++i) {
    if (anchor[i] == no_domain) continue;
    std::uint32_t root = find(parents, anchor[i]);
    if (number[root] == no_domain) {
      number[root] = domains();
      members_.emplace_back();
    }
    domain_[i] = number[root];
    members_[domain_[i]].push_back(islands_ + static_cast<std::uint32_t>(i));
  }
}

std::optional<std::uint32_t> Objects::domain_of(std::uint32_t communicator_object) const {
  std::uint32_t domain = domain_[communicator_object - islands_];
  if (domain == no_domain) return std::nullopt;
  return first_domain() + domain;
}

}  // namespace proteus::partition
