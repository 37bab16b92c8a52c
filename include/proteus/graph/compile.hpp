// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proteus/cluster/cluster.hpp"
#include "proteus/cost/communication_cost.hpp"
#include "proteus/cost/compute_cost.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/model/model.hpp"
#include "proteus/strategy/runtime.hpp"
#include "proteus/strategy/strategy.hpp"

namespace proteus::graph {

struct CompileInput {
  const model::Model& model;
  const cluster::Cluster& cluster;
  const strategy::Strategy& strategy;
  const strategy::Runtime& runtime;
  const cost::ComputeCost& compute;
  const cost::CommunicationCost& communication;
  int iterations = 1;
};

/// Turns a model and a strategy into the programs of all classes of devices. Every rank compiles for itself; the work
/// depends on the number of different stages, not on the number of devices.
/// Throws InputError where the strategy does not fit the model or the cluster.
Job compile(const CompileInput& input);

/// Estimated bytes of the job's programs in memory: what must not grow with the number of replicas.
std::size_t program_bytes(const Job& job);

}  // namespace proteus::graph
