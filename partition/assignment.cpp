// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/assignment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <string>

#include "proteus/base/error.hpp"
#include "proteus/base/hash.hpp"
#include "proteus/partition/coupling.hpp"

namespace proteus::partition {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// Which of `ranks` even shares takes item `i` of `count`.
std::uint32_t share(std::uint64_t i, std::uint64_t count, int ranks) {
  return static_cast<std::uint32_t>(i * static_cast<std::uint64_t>(ranks) / count);
}

/// Islands in the order in which they are dealt.
std::vector<std::uint32_t> ordered_islands(const graph::Job& job, const Objects& objects, PolicyKind kind) {
  std::vector<std::uint32_t> order(objects.islands());
  std::iota(order.begin(), order.end(), 0u);
  if (kind != PolicyKind::replica) return order;
  // A replica is all pipeline stages at one place of the other axes: with the stage as the fastest digit its islands
  // follow each other.
  auto key = [&](std::uint32_t island) {
    std::int64_t device = objects.first_device(island);
    std::int64_t outer = device / (job.stage_stride * job.stage_count);
    return std::tuple(outer, device % job.stage_stride, job.stage_of(device));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return order;
}

constexpr std::array<std::pair<std::string_view, PolicyKind>, 6> policies = {{
    {"auto", PolicyKind::automatic},
    {"replica", PolicyKind::replica},
    {"block", PolicyKind::block},
    {"metis", PolicyKind::metis},
    {"each", PolicyKind::each},
    {"random", PolicyKind::random},
}};

/// Islands in even shares, everything else where it is used.
std::vector<std::uint32_t> owners_by_island(const graph::Job& job, const Objects& objects, PolicyKind kind, int ranks) {
  std::vector<std::uint32_t> owner(objects.count());
  auto order = ordered_islands(job, objects, kind);
  for (std::size_t i = 0; i < order.size(); ++i) owner[order[i]] = share(i, order.size(), ranks);
  for (std::uint32_t object = objects.islands(); object < objects.first_domain(); ++object) {
    const auto& communicator = objects.communicator(object);
    std::int64_t first = job.families[communicator.family].device(communicator.group, 0);
    owner[object] = owner[objects.island_of(first)];
  }
  for (std::uint32_t i = 0; i < objects.domains(); ++i) {
    const std::uint32_t object = objects.first_domain() + i;
    // A domain lives with what it connects, if that is on one rank.
    std::uint32_t home = nowhere;
    bool together = true;
    for (std::uint32_t communicator : objects.communicators_of(object)) {
      if (!objects.joins_domain(communicator)) continue;
      if (home == nowhere) home = owner[communicator];
      together = together && owner[communicator] == home;
    }
    owner[object] = together && home != nowhere ? home : share(i, objects.domains(), ranks);
  }
  return owner;
}

std::vector<std::uint32_t> owners(const graph::Job& job, const Objects& objects, const Policy& policy, int ranks,
                                  std::span<const double> measured) {
  const auto count = static_cast<std::uint64_t>(ranks);
  switch (policy.kind) {
    case PolicyKind::metis:
      return split_with_metis(couplings(job, objects, measured), ranks);
    case PolicyKind::each:
    case PolicyKind::random: {
      std::vector<std::uint32_t> owner(objects.count());
      for (std::uint64_t object = 0; object < owner.size(); ++object) {
        const std::uint64_t word =
            policy.kind == PolicyKind::each ? object : mix64(mix64(policy.seed + 0x9e3779b97f4a7c15ULL) ^ object);
        owner[object] = static_cast<std::uint32_t>(word % count);
      }
      return owner;
    }
    case PolicyKind::block:
    case PolicyKind::replica:
    case PolicyKind::automatic:
      break;
  }
  return owners_by_island(job, objects, policy.kind, ranks);
}

/// The candidate whose ranks are predicted to work best; the first of equals.
Assignment cheapest(const graph::Job& job, std::shared_ptr<const Objects> objects, int ranks,
                    std::span<const double> measured) {
  if (ranks == 1) return assign(job, std::move(objects), {PolicyKind::replica, 0}, ranks);
  const CouplingGraph graph = couplings(job, *objects, measured);
  Assignment best;
  double efficiency = -1;
  for (PolicyKind kind : {PolicyKind::replica, PolicyKind::block, PolicyKind::metis}) {
    Assignment candidate = assign(job, objects, {kind, 0}, ranks, measured);
    const double found = predict(job, graph, candidate).efficiency;
    if (found <= efficiency) continue;
    efficiency = found;
    best = std::move(candidate);
  }
  return best;
}

}  // namespace

std::string_view name_of(PolicyKind kind) {
  return std::ranges::find(policies, kind, &std::pair<std::string_view, PolicyKind>::second)->first;
}

Policy policy_from(std::string_view text) {
  constexpr std::string_view random = "random:";
  if (text.starts_with(random)) {
    std::string_view number = text.substr(random.size());
    Policy policy{PolicyKind::random, 0};
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), policy.seed);
    if (error == std::errc{} && end == number.data() + number.size()) return policy;
  } else if (text != "random") {
    const auto* found = std::ranges::find(policies, text, &std::pair<std::string_view, PolicyKind>::first);
    if (found != policies.end()) return {found->second, 0};
  }
  throw InputError({}, "partition", "unknown policy '" + std::string(text) + "'",
                   "auto, replica, block, metis, each or random:SEED");
}

Assignment assign(const graph::Job& job, std::shared_ptr<const Objects> objects, const Policy& policy, int ranks,
                  std::span<const double> measured) {
  if (ranks < 1) throw InputError({}, "ranks", std::to_string(ranks), "at least 1");
  if (policy.kind == PolicyKind::automatic) return cheapest(job, std::move(objects), ranks, measured);
  auto owner = owners(job, *objects, policy, ranks, measured);
  return {ranks, std::move(objects), std::make_shared<const std::vector<std::uint32_t>>(std::move(owner)), policy.kind};
}

std::vector<std::int64_t> local_devices(const Assignment& assignment, int rank) {
  std::vector<std::int64_t> devices;
  const Objects& objects = *assignment.objects;
  for (std::uint32_t island = 0; island < objects.islands(); ++island) {
    if ((*assignment.owner)[island] != static_cast<std::uint32_t>(rank)) continue;
    for (std::int64_t d = objects.first_device(island); d < objects.end_device(island); ++d) devices.push_back(d);
  }
  return devices;
}

}  // namespace proteus::partition
