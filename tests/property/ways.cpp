// SPDX-License-Identifier: Apache-2.0
#include "ways.hpp"

#include <array>

#include "proteus/base/hash.hpp"

namespace proteus::property {
namespace {

using engine::QueueKind;
using partition::PolicyKind;

constexpr std::array<int, 6> ranks = {1, 2, 3, 4, 7, 16};
constexpr std::array<PolicyKind, 8> policies = {PolicyKind::block,  PolicyKind::replica,  PolicyKind::metis,
                                                PolicyKind::random, PolicyKind::random,   PolicyKind::random,
                                                PolicyKind::each,   PolicyKind::automatic};
constexpr std::array<QueueKind, 2> queues = {QueueKind::radix, QueueKind::binary};
constexpr std::array<Travel, 3> travels = {Travel::in_order, Travel::reordered, Travel::delayed};

constexpr std::uint64_t partitions = ranks.size() * policies.size() + 1;  // the last: a rank for each process
constexpr std::uint64_t all = partitions * queues.size() * travels.size();
constexpr std::uint64_t runs_a_job = 21;
constexpr std::uint64_t stride = 89;  // a prime that does not divide the number of ways
static_assert(all % stride != 0);

}  // namespace

std::uint64_t count_of_ways() { return all; }

Way way_number(std::uint64_t number) {
  Way way;
  way.travel = travels[number % travels.size()];
  number /= travels.size();
  way.queue = queues[number % queues.size()];
  number /= queues.size();
  if (number == partitions - 1) {
    way.ranks = -1;
    way.policy.kind = PolicyKind::each;
    return way;
  }
  way.ranks = ranks[number % ranks.size()];
  const std::uint64_t policy = number / ranks.size();
  way.policy = {policies[policy], policy};
  return way;
}

std::vector<std::uint64_t> ways_of(std::uint64_t seed) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < runs_a_job; ++i) numbers.push_back((seed * runs_a_job + i) * stride % all);
  return numbers;
}

Way drawn_way(std::uint64_t seed, std::uint64_t number) {
  Way way = way_number(number);
  const std::uint64_t word = mix64(mix64(seed + 1) ^ number);
  way.policy.seed += word % 1000 * policies.size();  // random partitions of a job differ
  way.disturbance = word >> 32 | 1;
  constexpr std::array<std::uint64_t, 9> budgets = {0, 0, 0, 0, 0, 0, 1, 2, 7};
  way.events_a_window = budgets[(word >> 20) % budgets.size()];
  return way;
}

}  // namespace proteus::property
