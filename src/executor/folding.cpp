// SPDX-License-Identifier: Apache-2.0
#include "proteus/executor/folding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "proteus/base/error.hpp"
#include "refinement.hpp"

namespace proteus::executor {
namespace {

/// The first vertex of each class.
std::vector<std::uint32_t> first_of(const std::vector<std::uint32_t>& classes) {
  std::vector<std::uint32_t> first;
  for (std::uint32_t i = 0; i < classes.size(); ++i) {
    if (classes[i] == first.size()) first.push_back(i);
  }
  return first;
}

/// Time of one of each collective that the family runs, one after the other: which placement is the worst.
double price(const graph::Job& job, const partition::Objects& objects, std::uint32_t family, std::uint32_t placement) {
  double seconds = 0;
  for (std::uint32_t use : objects.uses(family)) {
    const graph::CollectiveUse& collective = job.collectives[use];
    const auto cost = collective.cost.find(objects.placements()[placement]);
    if (cost == collective.cost.end()) continue;
    seconds += cost->second.latency.to_seconds();
    if (cost->second.bandwidth.value > 0) {
      seconds += static_cast<double>(collective.size.value) / cost->second.bandwidth.value;
    }
  }
  return seconds;
}

}  // namespace

Folding::Folding(const graph::Job& job, std::shared_ptr<const partition::Objects> objects, const Options& options,
                 FoldMode mode)
    : job_(job), objects_(std::move(objects)), mode_(mode) {
  check(options, mode);
  const Refinement refinement(job, *objects_, options, mode);
  take_islands(refinement);
  take_communicators(refinement);
  take_links(refinement);
  join_domains(refinement);
  if (options.compute_jitter > 0) {
    assumptions_.push_back(fmt::format("{} of {} devices draw jitter: groups wait for the slowest of these, not of all",
                                       devices_, job.devices));
  }
}

void Folding::check(const Options& options, FoldMode mode) {
  if (mode == FoldMode::exact && options.compute_jitter > 0) {
    throw InputError({}, "simulate.compute_jitter", "with jitter no device is like another, so nothing folds exactly",
                     "0, or --fold approx");
  }
}

void Folding::take_islands(const Refinement& refinement) {
  representative_.resize(objects_->count());
  const auto first = first_of(refinement.islands());
  for (std::uint32_t island = 0; island < objects_->islands(); ++island) {
    const std::uint32_t leader = first[refinement.islands()[island]];
    representative_[island] = leader;
    island_members_[leader].push_back(island);
  }
  for (std::uint32_t island : first) devices_ += objects_->end_device(island) - objects_->first_device(island);
}

void Folding::take_communicators(const Refinement& refinement) {
  const auto first = first_of(refinement.communicators());
  std::map<std::uint32_t, std::set<std::uint32_t>> placements;
  for (std::uint32_t i = 0; i < objects_->communicators(); ++i) {
    const std::uint32_t leader = objects_->islands() + first[refinement.communicators()[i]];
    representative_[objects_->islands() + i] = leader;
    ++communicators_[leader].copies;
    placements[leader].insert(objects_->communicator(objects_->islands() + i).placement);
  }
  for (auto& [object, communicator] : communicators_) {
    const auto& where = objects_->communicator(object);
    const auto& family = job_.families[where.family];
    for (std::int64_t m = 0; m < family.members(); ++m) {
      const std::int64_t device = family.device(where.group, m);
      const std::uint32_t island = objects_->island_of(device);
      communicator.members.push_back(objects_->first_device(representative_[island]) + device -
                                     objects_->first_device(island));
    }
    std::sort(communicator.members.begin(), communicator.members.end());
    communicator.members.erase(std::unique(communicator.members.begin(), communicator.members.end()),
                               communicator.members.end());
    const auto& possible = placements.at(object);
    communicator.placement = *std::max_element(possible.begin(), possible.end(), [&](std::uint32_t a, std::uint32_t b) {
      return price(job_, *objects_, where.family, a) < price(job_, *objects_, where.family, b);
    });
    if (possible.size() > 1) {
      assumptions_.push_back(
          fmt::format("{} communicators of {} lie in {} ways on their nodes: the dearest holds for all",
                      communicator.copies, family.name, possible.size()));
    }
  }
}

void Folding::take_links(const Refinement& refinement) {
  const auto first = first_of(refinement.links());
  const std::set<std::uint32_t> representatives(first.begin(), first.end());
  std::set<std::pair<std::uint32_t, std::uint32_t>> own;  // that a representative loads itself
  for (std::uint32_t i = 0; i < objects_->communicators(); ++i) {
    const std::uint32_t object = objects_->islands() + i;
    for (const auto& use : refinement.uses(i)) {
      for (const auto& link : use.links) {
        if (simulated(object)) own.emplace(object, first[refinement.links()[link.link]]);
        if (!representatives.contains(link.link)) continue;
        communicators_.at(representative_[object]).uses[use.kind].push_back({link.link, object, link.weight});
      }
    }
  }
  std::size_t foreign = 0;
  for (auto& [object, communicator] : communicators_) {
    bool every = true;
    for (auto& [kind, uses] : communicator.uses) {
      std::sort(uses.begin(), uses.end(), [](const LinkUse& a, const LinkUse& b) {
        return std::tie(a.link, a.communicator) < std::tie(b.link, b.communicator);
      });
      for (const LinkUse& use : uses) every = every && own.contains({object, use.link});
    }
    if (!every) ++foreign;
  }
  if (foreign > 0) {
    assumptions_.push_back(fmt::format(
        "{} kinds of communicators lie differently on leaf switches: each copy meets the links of all", foreign));
  }
}

void Folding::join_domains(const Refinement& refinement) {
  // The image of a domain is connected: all of it falls into one folded domain, which the first of them stands for.
  std::map<std::uint32_t, std::uint32_t> leader;  // by folded domain
  for (std::uint32_t link = 0; link < refinement.links().size(); ++link) {
    const auto domain = objects_->domain_of_link(link);
    if (!domain) continue;
    auto& found = leader.try_emplace(refinement.domain(link), *domain).first->second;
    found = std::min(found, *domain);
  }
  for (std::uint32_t link = 0; link < refinement.links().size(); ++link) {
    const auto domain = objects_->domain_of_link(link);
    if (domain) representative_[*domain] = leader.at(refinement.domain(link));
  }
  for (std::uint32_t link : first_of(refinement.links())) {
    if (objects_->domain_of_link(link)) domain_links_[leader.at(refinement.domain(link))].push_back(link);
  }
  for (auto& [object, communicator] : communicators_) {
    std::set<std::uint32_t> own;
    for (const auto& [kind, uses] : communicator.uses) {
      for (const LinkUse& use : uses) own.insert(leader.at(refinement.domain(use.link)));
    }
    communicator.domains.assign(own.begin(), own.end());
  }
}

std::span<const Folding::LinkUse> Folding::uses(std::uint32_t communicator, cost::Collective kind) const {
  const auto& by_kind = communicators_.at(communicator).uses;
  const auto found = by_kind.find(kind);
  return found == by_kind.end() ? std::span<const LinkUse>{} : std::span<const LinkUse>(found->second);
}

partition::Assignment Folding::assign(int ranks) const {
  std::vector<std::uint32_t> owner(objects_->count(), engine::no_rank);
  std::uint64_t dealt = 0;
  for (const auto& [island, members] : island_members_) {
    owner[island] = static_cast<std::uint32_t>(dealt++ * static_cast<std::uint64_t>(ranks) / island_members_.size());
  }
  for (const auto& [object, communicator] : communicators_) {
    owner[object] = owner[objects_->island_of(communicator.members.front())];
  }
  for (const auto& [object, communicator] : communicators_) {
    for (std::uint32_t domain : communicator.domains) {
      if (owner[domain] == engine::no_rank || objects_->joins_domain(object)) owner[domain] = owner[object];
    }
  }
  return {ranks, objects_, std::make_shared<const std::vector<std::uint32_t>>(std::move(owner)),
          partition::PolicyKind::block};
}

std::vector<std::int64_t> Folding::devices_of(const partition::Assignment& assignment, int rank) const {
  std::vector<std::int64_t> devices;
  for (std::uint32_t island = 0; island < objects_->islands(); ++island) {
    if ((*assignment.owner)[representative_[island]] != static_cast<std::uint32_t>(rank)) continue;
    for (std::int64_t d = objects_->first_device(island); d < objects_->end_device(island); ++d) devices.push_back(d);
  }
  return devices;
}

FoldedSink::FoldedSink(const partition::Objects& objects, const Folding& folding, RowSink& sink) : sink_(sink) {
  for (std::uint32_t island = 0; island < objects.islands(); ++island) {
    const std::int64_t leader = objects.first_device(folding.representative(island));
    const std::int64_t first = objects.first_device(island);
    for (std::int64_t d = first; d < objects.end_device(island); ++d) {
      if (sink.wants(d)) wanted_[leader + d - first].push_back(d);
    }
  }
}

void FoldedSink::record(std::int64_t device, std::int64_t position, Time start, Time duration) {
  for (std::int64_t alike : wanted_.at(device)) sink_.record(alike, position, start, duration);
}

}  // namespace proteus::executor
