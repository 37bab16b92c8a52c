// SPDX-License-Identifier: Apache-2.0
#include "proteus/executor/simulation.hpp"

#include <algorithm>

#include "communicator_process.hpp"
#include "fabric_domain.hpp"
#include "island.hpp"
#include "object_name.hpp"
#include "tables.hpp"

namespace proteus::executor {

Time shortest_delay(const graph::Job& job, const partition::Objects& objects) {
  Time shortest = Time::infinity();
  for (std::uint32_t i = 0; i < objects.communicators(); ++i) {
    const auto& where = objects.communicator(objects.islands() + i);
    const cost::Placement& placement = objects.placements()[where.placement];
    for (std::uint32_t use : objects.uses(where.family)) {
      auto price = job.collectives[use].cost.find(placement);
      if (price == job.collectives[use].cost.end()) continue;
      // As Price::leg_ps: every message takes at least one leg.
      shortest = std::min(shortest, Time::picoseconds(std::max<std::int64_t>(1, price->second.latency.ps() / 4)));
    }
  }
  return shortest;
}

engine::LocalEngine make_engine(const graph::Job& job, const cluster::Cluster& cluster, const Options& options,
                                const partition::Assignment& assignment, int rank, RowSink* sink) {
  auto tables = std::make_shared<const Tables>(job, cluster, options, assignment, rank);
  const partition::Objects& objects = *assignment.objects;
  engine::EngineOptions engine_options = options.engine;
  engine_options.name_of = [tables](std::uint32_t object) {
    return object_name(tables->job, *tables->objects, object);
  };
  engine::LocalEngine engine(rank, assignment.owner, Time::picoseconds(tables->lookahead_ps),
                             std::move(engine_options));
  engine.set_couplings(couplings_of(*tables, tables->open()));
  for (std::uint32_t object = 0; object < objects.count(); ++object) {
    if ((*assignment.owner)[object] != static_cast<std::uint32_t>(rank)) continue;
    if (objects.is_island(object)) {
      engine.add(object, std::make_unique<Island>(tables, object, sink));
    } else if (objects.is_communicator(object)) {
      engine.add(object, std::make_unique<CommunicatorProcess>(tables, object));
    } else {
      engine.add(object, std::make_unique<FabricDomain>(tables, object));
    }
  }
  return engine;
}

Result collect(const graph::Job& job, const engine::LocalEngine& engine) {
  Result result;
  // Also where this rank hosts nothing: all packed results of a run have the same length.
  result.iteration_end.resize(static_cast<std::size_t>(job.iterations));
  result.classes.resize(job.programs.size());
  for (const auto& process : engine.processes()) {
    if (const auto* reporting = dynamic_cast<const Reporting*>(process.get())) reporting->report(result);
  }
  return result;
}

}  // namespace proteus::executor
