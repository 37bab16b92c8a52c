// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/neighbours.hpp"

namespace proteus::partition {

std::vector<int> neighbours(const graph::Job& job, const Assignment& assignment, int rank) {
  const Objects& objects = *assignment.objects;
  const std::vector<std::uint32_t>& owner = *assignment.owner;
  const auto own = static_cast<std::uint32_t>(rank);
  std::vector<bool> near(static_cast<std::size_t>(assignment.ranks), false);
  std::vector<std::uint32_t> ends;
  for (std::uint32_t communicator = objects.islands(); communicator < objects.first_domain(); ++communicator) {
    const auto& where = objects.communicator(communicator);
    const auto& family = job.families[where.family];
    ends.clear();
    for (std::int64_t member = 0; member < family.members(); ++member) {
      ends.push_back(owner[objects.island_of(family.device(where.group, member))]);
    }
    for (std::uint32_t domain : objects.domains_of(communicator)) ends.push_back(owner[domain]);
    for (std::uint32_t end : ends) {
      if (owner[communicator] == own) near[end] = true;
      if (end == own) near[owner[communicator]] = true;
    }
  }
  near[own] = false;
  std::vector<int> ranks;
  for (int other = 0; other < assignment.ranks; ++other) {
    if (near[static_cast<std::size_t>(other)]) ranks.push_back(other);
  }
  return ranks;
}

}  // namespace proteus::partition
