// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "proteus/cluster/cluster.hpp"
#include "proteus/engine/simulation.hpp"
#include "proteus/executor/row_sink.hpp"
#include "proteus/executor/run.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/partition/assignment.hpp"

/// How to run a job:
///
///   auto objects = std::make_shared<const partition::Objects>(job, cluster);
///   auto assignment = partition::assign(job, objects, policy, ranks);
///   auto engine = make_engine(job, cluster, options, assignment, rank, sink);
///   engine::run_windows({&engine, 1}, transport, hooks);      // or run_sequential
///   Result mine = collect(job, engine);
///   ... exchange pack(mine) between ranks; all packed results of a run have the same length ...
///   Result all = merge(results of all ranks);
namespace proteus::executor {

/// The shortest delay of any message between logical processes of the job, which is the engine's lookahead: a quarter
/// of the smallest latency of a collective that spans islands; infinite where there is none.
Time shortest_delay(const graph::Job& job, const partition::Objects& objects);

/// All logical processes that `rank` hosts, ready to run. `job`, `cluster` and `sink` must outlive the engine; `sink`
/// may be null. Throws SimulationError where the job cannot be run: no price for a placement, an op that is faster
/// beside communication than alone.
engine::LocalEngine make_engine(const graph::Job& job, const cluster::Cluster& cluster, const Options& options,
                                const partition::Assignment& assignment, int rank, RowSink* sink);

/// What the processes of one rank found. Only merge() makes it a result of the run, also where there is one rank.
Result collect(const graph::Job& job, const engine::LocalEngine& engine);

/// Puts the results of all ranks together, and fills Breakdown::idle: what a device's own iteration leaves of the
/// length of the last one. (Where devices started it before the last of them had ended the one before, so that their
/// own iterations are longer, the surplus is taken off their waiting.)
Result merge(std::span<const Result> ranks);

std::vector<std::int64_t> pack(const Result& result);
/// Throws SimulationError where `words` is not what pack() made.
Result unpack(std::span<const std::int64_t> words);

}  // namespace proteus::executor
