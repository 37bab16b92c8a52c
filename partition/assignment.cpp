// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/assignment.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <string>

#include "proteus/base/error.hpp"
#include "proteus/base/hash.hpp"

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

}  // namespace

Policy policy_from(std::string_view text) {
  if (text == "block") return {PolicyKind::block, 0};
  if (text == "replica") return {PolicyKind::replica, 0};
  constexpr std::string_view random = "random:";
  if (text.starts_with(random)) {
    std::string_view number = text.substr(random.size());
    Policy policy{PolicyKind::random, 0};
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), policy.seed);
    if (error == std::errc{} && end == number.data() + number.size()) return policy;
  }
  throw InputError({}, "partition", "unknown policy '" + std::string(text) + "'", "block, replica or random:SEED");
}

Assignment assign(const graph::Job& job, std::shared_ptr<const Objects> objects, const Policy& policy, int ranks) {
  if (ranks < 1) throw InputError({}, "ranks", std::to_string(ranks), "at least 1");
  std::vector<std::uint32_t> owner(objects->count());
  if (policy.kind == PolicyKind::random) {
    for (std::uint64_t object = 0; object < owner.size(); ++object) {
      std::uint64_t word = mix64(mix64(policy.seed + 0x9e3779b97f4a7c15ULL) ^ object);
      owner[object] = static_cast<std::uint32_t>(word % static_cast<std::uint64_t>(ranks));
    }
  } else {
    auto order = ordered_islands(job, *objects, policy.kind);
    for (std::size_t i = 0; i < order.size(); ++i) owner[order[i]] = share(i, order.size(), ranks);
    for (std::uint32_t object = objects->islands(); object < objects->first_domain(); ++object) {
      const auto& communicator = objects->communicator(object);
      std::int64_t first = job.families[communicator.family].device(communicator.group, 0);
      owner[object] = owner[objects->island_of(first)];
    }
    for (std::uint32_t i = 0; i < objects->domains(); ++i) {
      const std::uint32_t object = objects->first_domain() + i;
      // A domain lives with what it connects, if that is on one rank.
      std::uint32_t home = nowhere;
      bool together = true;
      for (std::uint32_t communicator : objects->communicators_of(object)) {
        if (!objects->joins_domain(communicator)) continue;
        if (home == nowhere) home = owner[communicator];
        together = together && owner[communicator] == home;
      }
      owner[object] = together && home != nowhere ? home : share(i, objects->domains(), ranks);
    }
  }
  return {ranks, std::move(objects), std::make_shared<const std::vector<std::uint32_t>>(std::move(owner))};
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
