// SPDX-License-Identifier: Apache-2.0
#include "collectives.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "limits.hpp"

namespace proteus::graph {

Collectives::Collectives(Job& job, const strategy::Mesh& mesh, const cluster::Cluster& cluster,
                         const cost::CommunicationCost& cost)
    : job_(job), mesh_(mesh), cluster_(cluster), cost_(cost) {}

std::uint32_t Collectives::intern(CommunicatorFamily family) {
  auto found = std::find(job_.families.begin(), job_.families.end(), family);
  if (found == job_.families.end()) found = job_.families.insert(found, std::move(family));
  return static_cast<std::uint32_t>(found - job_.families.begin());
}

std::uint32_t Collectives::over(const std::vector<strategy::Atom>& atoms, Stream stream) {
  CommunicatorFamily family;
  family.name = mesh_.name_of(atoms) + " " + std::string(name_of(stream));
  for (strategy::Atom atom = 0; atom < mesh_.atoms(); ++atom) {
    const bool member = std::find(atoms.begin(), atoms.end(), atom) != atoms.end();
    (member ? family.member_axes : family.group_axes).push_back({mesh_.stride(atom), mesh_.size(atom)});
  }
  return intern(std::move(family));
}

std::uint32_t Collectives::between_stages(const std::string& name, const std::vector<strategy::Atom>& pipeline,
                                          std::int64_t from, std::int64_t to) {
  const std::int64_t stride = mesh_.stride(pipeline.front());
  CommunicatorFamily family;
  family.name = name + " " + std::to_string(from) + ">" + std::to_string(to);
  family.base = from * stride;
  family.member_axes = {{(to - from) * stride, 2}};
  for (strategy::Atom atom = 0; atom < mesh_.atoms(); ++atom) {
    if (std::find(pipeline.begin(), pipeline.end(), atom) == pipeline.end()) {
      family.group_axes.push_back({mesh_.stride(atom), mesh_.size(atom)});
    }
  }
  return intern(std::move(family));
}

bool Collectives::uniform(const CommunicatorFamily& family, int gpus_per_node) const {
  const auto regular = [&](const CommunicatorFamily::Axis& axis) {
    const std::int64_t stride = std::abs(axis.stride);
    return stride % gpus_per_node == 0 || gpus_per_node % (stride * axis.size) == 0 ||
           (gpus_per_node % stride == 0 && stride * axis.size % gpus_per_node == 0);
  };
  return std::all_of(family.group_axes.begin(), family.group_axes.end(), regular) &&
         std::all_of(family.member_axes.begin(), family.member_axes.end(), regular);
}

std::uint32_t Collectives::use(CollectiveUse collective) {
  auto found = std::find(job_.collectives.begin(), job_.collectives.end(), collective);
  if (found != job_.collectives.end()) return static_cast<std::uint32_t>(found - job_.collectives.begin());

  const CommunicatorFamily& family = job_.families[collective.family];
  const int gpus = cluster_.node.gpus;
  const std::int64_t groups = uniform(family, gpus) ? 1 : family.groups();
  for (std::int64_t group = 0; group < groups; ++group) {
    const cost::Placement placement = family.placement(group, gpus);
    if (!collective.cost.contains(placement)) {
      collective.cost[placement] = cost_.collective(collective.kind, collective.size, placement);
    }
  }
  check_collective(collective, job_.comm_slowdown);
  job_.collectives.push_back(std::move(collective));
  return static_cast<std::uint32_t>(job_.collectives.size() - 1);
}

std::int64_t Collectives::members(std::uint32_t family) const { return job_.families[family].members(); }

cost::Collective collective_of(strategy::Reshard::Kind kind) {
  switch (kind) {
    case strategy::Reshard::Kind::reduce_scatter:
      return cost::Collective::reduce_scatter;
    case strategy::Reshard::Kind::all_reduce:
      return cost::Collective::all_reduce;
    case strategy::Reshard::Kind::all_to_all:
      return cost::Collective::all_to_all;
    case strategy::Reshard::Kind::all_gather:
      return cost::Collective::all_gather;
    case strategy::Reshard::Kind::slice:
      break;
  }
  throw std::logic_error("a local slice is no collective");
}

}  // namespace proteus::graph
