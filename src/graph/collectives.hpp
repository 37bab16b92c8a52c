// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "proteus/cluster/cluster.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/strategy/layout.hpp"
#include "proteus/strategy/mesh.hpp"

namespace proteus::graph {

/// The communicators and collectives of a job under construction; equal ones are stored once.
class Collectives {
 public:
  Collectives(Job& job, const strategy::Mesh& mesh, const cluster::Cluster& cluster,
              const cost::CommunicationCost& cost);

  /// Devices that differ in these atoms; one family for each stream that uses it, as frameworks create one NCCL
  /// communicator for each process group. Returns its number.
  std::uint32_t over(const std::vector<strategy::Atom>& atoms, Stream stream);
  /// Pairs of stages: member 0 is on stage `from`, member 1 on stage `to`, all else equal.
  std::uint32_t between_stages(const std::string& name, const std::vector<strategy::Atom>& pipeline, std::int64_t from,
                               std::int64_t to);

  /// Number of the collective with these properties; prices it for every placement of the family.
  std::uint32_t use(CollectiveUse collective);

  std::int64_t members(std::uint32_t family) const;

 private:
  std::uint32_t intern(CommunicatorFamily family);
  bool uniform(const CommunicatorFamily& family, int gpus_per_node) const;

  Job& job_;
  const strategy::Mesh& mesh_;
  const cluster::Cluster& cluster_;
  const cost::CommunicationCost& cost_;
};

cost::Collective collective_of(strategy::Reshard::Kind kind);

}  // namespace proteus::graph
