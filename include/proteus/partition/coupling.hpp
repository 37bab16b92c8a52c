// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proteus/partition/assignment.hpp"

namespace proteus::partition {

/// Who talks to whom, and how much, known from the programs before a run.
struct CouplingGraph {
  struct Edge {
    std::uint32_t a = 0;  ///< objects
    std::uint32_t b = 0;
    double messages = 0;   ///< over all iterations, both ways
    double instances = 0;  ///< of collectives in one iteration: the more, the earlier the next message can come
  };
  std::uint32_t islands = 0;   ///< the objects that carry most of the load
  std::vector<double> events;  ///< that each object handles, by object
  std::vector<Edge> edges;
};

/// `measured`: events that each object handled in an earlier run, in place of those that programs let expect; empty, or
/// one an object.
CouplingGraph couplings(const graph::Job& job, const Objects& objects, std::span<const double> measured = {});

/// Of what two jobs must have in common for an object of one to be the same of the other: how many objects there are,
/// who talks to whom and how often in an iteration. 32 hexadecimal digits.
std::string fingerprint(const CouplingGraph& graph);

/// Splits the graph with METIS (Karypis, Kumar 1998: multilevel k-way partitioning), balancing events and cutting few
/// and rare messages; the seed is fixed, so every rank finds the same. No more ranks are used than there are islands.
/// Owners by object.
std::vector<std::uint32_t> split_with_metis(const CouplingGraph& graph, int ranks);

/// What a run under an assignment should cost; nothing is simulated.
struct Prediction {
  std::vector<double> events;          ///< by rank
  std::vector<std::uint32_t> objects;  ///< hosted, by rank
  std::vector<std::int64_t> devices;   ///< by rank
  double balance = 1;                  ///< mean over largest number of events
  double cut_messages = 0;             ///< between ranks
  double windows = 0;                  ///< without jitter
  double efficiency = 1;               ///< of the ranks, against one that needs no windows
  double memory_bytes = 0;             ///< of the fullest rank, beside programs and libraries
};

Prediction predict(const graph::Job& job, const CouplingGraph& graph, const Assignment& assignment);

}  // namespace proteus::partition
