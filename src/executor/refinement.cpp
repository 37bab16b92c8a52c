// SPDX-License-Identifier: Apache-2.0
#include "refinement.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace proteus::executor {
namespace {

// Which port of a vertex a neighbour hangs on; what the first number of a fact means.
enum Port : std::uint64_t { own, device, inner_group, member, load };

std::uint64_t pair(std::uint64_t a, std::uint64_t b) { return mix64(a + 0x9e3779b97f4a7c15ULL) ^ b; }

/// Sender and receiver are not alike; members of other collectives are.
std::uint64_t role(const graph::CommunicatorFamily& family, std::int64_t member) {
  return family.members() == 2 ? static_cast<std::uint64_t>(member) : 0;
}

struct Digest {
  std::size_t operator()(const FactHash& hash) const { return hash.low; }
};

}  // namespace

Refinement::Refinement(const graph::Job& job, const partition::Objects& objects, const Options& options, FoldMode mode)
    : job_(job), objects_(objects), mode_(mode), uses_(objects.communicators()) {
  for (std::uint32_t i = 0; i < objects.communicators(); ++i) {
    const auto& where = objects.communicator(objects.islands() + i);
    for (cost::Collective kind : objects.fabric_kinds(objects.islands() + i)) {
      uses_[i].push_back({kind, objects.links().uses(job.families[where.family], where.group, kind)});
    }
  }
  start(options);
  apart_.resize(objects_.domains());
  do {
    while (refine()) {
    }
    join_links();
  } while (mode_ == FoldMode::exact && set_domains_apart());
}

void Refinement::start(const Options& options) {
  std::vector<FactHash> islands(objects_.islands());
  for (std::uint32_t island = 0; island < objects_.islands(); ++island) {
    const std::int64_t first = objects_.first_device(island);
    for (std::int64_t id = first; id < objects_.end_device(island); ++id) {
      islands[island].add(device, static_cast<std::uint64_t>(id - first), job_.class_of(id));
    }
  }
  for (const Delay& delay : options.delays) {
    if (delay.device < 0 || delay.device >= job_.devices) continue;
    const std::uint32_t island = objects_.island_of(delay.device);
    islands[island].add(pair(device, static_cast<std::uint64_t>(delay.device - objects_.first_device(island))),
                        static_cast<std::uint64_t>(delay.position), static_cast<std::uint64_t>(delay.by.ps()));
  }
  for (std::uint32_t f = 0; f < job_.families.size(); ++f) {
    const auto& family = job_.families[f];
    if (!objects_.used(f) || objects_.communicators(f) == family.groups()) continue;
    for (std::uint32_t island = 0; island < objects_.islands(); ++island) {
      const std::int64_t first = objects_.first_device(island);
      for (std::int64_t id = first; id < objects_.end_device(island); ++id) {
        const auto place = family.locate(id);
        if (!place || !family.inside_island(place->group, job_.island_size)) continue;
        const auto with = static_cast<std::uint64_t>(family.device(place->group, 0) - first);
        islands[island].add(pair(inner_group, f), static_cast<std::uint64_t>(id - first),
                            pair(with, static_cast<std::uint64_t>(place->member)));
      }
    }
  }
  island_classes_ = number(islands, islands_);

  std::vector<FactHash> communicators(objects_.communicators());
  for (std::uint32_t i = 0; i < objects_.communicators(); ++i) {
    const auto& where = objects_.communicator(objects_.islands() + i);
    // Whatever their place on the cluster, approximately all of a family are alike.
    communicators[i].add(own, where.family, mode_ == FoldMode::exact ? where.placement : 0);
  }
  communicator_classes_ = number(communicators, communicators_);

  std::vector<FactHash> links(objects_.links().count());
  for (std::uint32_t link = 0; link < links.size(); ++link) {
    links[link].add(own, std::bit_cast<std::uint64_t>(objects_.links().capacity(link).value), link % 2);
  }
  link_classes_ = number(links, links_);
}

bool Refinement::refine() {
  const auto before = std::tuple(island_classes_, communicator_classes_, link_classes_);
  refine_communicators();
  refine_islands();
  refine_links();
  return before != std::tuple(island_classes_, communicator_classes_, link_classes_);
}

void Refinement::refine_communicators() {
  std::vector<FactHash> hashes(objects_.communicators());
  for (std::uint32_t i = 0; i < hashes.size(); ++i) {
    const auto& where = objects_.communicator(objects_.islands() + i);
    const auto& family = job_.families[where.family];
    hashes[i].add(own, communicators_[i], 0);
    for (std::int64_t m = 0; m < family.members(); ++m) {
      const std::int64_t id = family.device(where.group, m);
      const std::uint32_t island = objects_.island_of(id);
      hashes[i].add(pair(member, role(family, m)), islands_[island],
                    static_cast<std::uint64_t>(id - objects_.first_device(island)));
    }
    if (mode_ == FoldMode::approx) continue;
    for (const FabricUse& use : uses_[i]) {
      for (const auto& link : use.links) {
        hashes[i].add(pair(load, static_cast<std::uint64_t>(use.kind)), links_[link.link],
                      std::bit_cast<std::uint64_t>(link.weight));
      }
    }
  }
  communicator_classes_ = number(hashes, communicators_);
}

void Refinement::refine_islands() {
  std::vector<FactHash> hashes(objects_.islands());
  for (std::uint32_t island = 0; island < hashes.size(); ++island) hashes[island].add(own, islands_[island], 0);
  for (std::uint32_t i = 0; i < objects_.communicators(); ++i) {
    const auto& where = objects_.communicator(objects_.islands() + i);
    const auto& family = job_.families[where.family];
    for (std::int64_t m = 0; m < family.members(); ++m) {
      const std::int64_t id = family.device(where.group, m);
      const std::uint32_t island = objects_.island_of(id);
      hashes[island].add(pair(member, role(family, m)), communicators_[i],
                         static_cast<std::uint64_t>(id - objects_.first_device(island)));
    }
  }
  island_classes_ = number(hashes, islands_);
}

void Refinement::refine_links() {
  std::vector<FactHash> hashes(links_.size());
  for (std::uint32_t link = 0; link < hashes.size(); ++link) {
    const auto domain = objects_.domain_of_link(link);
    const bool apart = domain && apart_[*domain - objects_.first_domain()];
    hashes[link].add(own, links_[link], apart ? *domain : 0);
  }
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    for (const FabricUse& use : uses_[i]) {
      for (const auto& link : use.links) {
        hashes[link.link].add(pair(load, static_cast<std::uint64_t>(use.kind)), communicators_[i],
                              std::bit_cast<std::uint64_t>(link.weight));
      }
    }
  }
  link_classes_ = number(hashes, links_);
}

void Refinement::join_links() {
  joined_.resize(link_classes_);
  std::iota(joined_.begin(), joined_.end(), 0u);
  const auto find = [this](std::uint32_t x) {
    while (joined_[x] != x) x = joined_[x] = joined_[joined_[x]];
    return x;
  };
  for (const auto& kinds : uses_) {
    std::map<std::uint32_t, std::uint32_t> anchors;  // a link class of each domain
    for (const FabricUse& use : kinds) {
      for (const auto& link : use.links) {
        const std::uint32_t root = find(links_[link.link]);
        joined_[root] = find(anchors.try_emplace(*objects_.domain_of_link(link.link), root).first->second);
      }
    }
  }
  for (std::uint32_t i = 0; i < joined_.size(); ++i) joined_[i] = find(i);
}

bool Refinement::set_domains_apart() {
  bool any = false;
  for (const auto& kinds : uses_) {
    using Loads = std::set<std::pair<cost::Collective, std::uint32_t>>;  // kind and link class
    std::map<std::uint32_t, Loads> whole;
    std::map<std::uint32_t, Loads> folded;
    for (const FabricUse& use : kinds) {
      for (const auto& link : use.links) {
        whole[*objects_.domain_of_link(link.link)].emplace(use.kind, links_[link.link]);
        folded[domain(link.link)].emplace(use.kind, links_[link.link]);
      }
    }
    for (const auto& [there, loads] : whole) {
      if (apart_[there - objects_.first_domain()] || loads == folded.at(joined_[loads.begin()->second])) continue;
      any = apart_[there - objects_.first_domain()] = true;
    }
  }
  return any;
}

std::size_t Refinement::number(const std::vector<FactHash>& hashes, std::vector<std::uint32_t>& classes) {
  std::unordered_map<FactHash, std::uint32_t, Digest> numbers;
  classes.resize(hashes.size());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    classes[i] = numbers.try_emplace(hashes[i], static_cast<std::uint32_t>(numbers.size())).first->second;
  }
  return numbers.size();
}

}  // namespace proteus::executor
