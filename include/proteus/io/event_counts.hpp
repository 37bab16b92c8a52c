// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proteus/partition/coupling.hpp"

namespace proteus::io {

/// Events that each logical process of a job handled in a run: what the next partition can go by.
struct EventCounts {
  std::uint32_t islands = 0;
  std::uint32_t communicators = 0;
  std::uint32_t domains = 0;
  std::string fingerprint;            ///< of the coupling graph
  std::vector<std::uint64_t> events;  ///< by object
};

/// The events of `events` with the numbers of the objects that they belong to.
EventCounts event_counts(const partition::Objects& objects, const partition::CouplingGraph& graph,
                         std::vector<std::uint64_t> events);

/// What must be the same of the earlier run whose counts shall be used.
struct ExpectedRun {
  const partition::Objects& objects;
  const partition::CouplingGraph& graph;
  std::string resolved_config;  ///< section `simulate` does not count
  int iterations = 1;
};

/// Reads the counts of a timeline file, in proportion to the iterations of the two runs, by object. Throws InputError
/// where the file cannot be read, holds none (it was folded, or did not end), or is of another experiment, with what
/// differs.
std::vector<double> measured_events(const std::filesystem::path& file, const ExpectedRun& expected);

}  // namespace proteus::io
