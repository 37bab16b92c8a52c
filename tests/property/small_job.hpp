// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "prepared_job.hpp"
#include "proteus/executor/folding.hpp"
#include "proteus/executor/simulation.hpp"
#include "proteus/partition/assignment.hpp"

namespace proteus::property {

/// A random experiment that the reader and the compiler accept.
struct SmallJob {
  std::uint64_t seed = 0;
  std::string text;                   ///< the experiment file
  std::vector<std::string> rejected;  ///< why those before it were refused
  cli::PreparedJob prepared;
};

/// The first attempt of `seed` that is accepted. Whatever else than InputError a refused one throws passes through, as
/// std::runtime_error that tells which.
SmallJob small_job(std::uint64_t seed);

/// Reads and compiles `text` as a file of its own.
cli::PreparedJob prepare_text(const std::string& text);

struct Row {
  std::int64_t start_ps = -1;
  std::int64_t duration_ps = -1;
  bool operator==(const Row&) const = default;
};

/// What a run found.
struct Outcome {
  executor::Result result;
  std::string summary;                 ///< as JSON, without how the run was made
  std::vector<std::vector<Row>> rows;  ///< by device and program position
  bool twice = false;                  ///< some row was recorded twice
  std::uint64_t windows = 0;
};

/// How the messages of a run travel.
enum class Travel : std::uint8_t { in_order, reordered, delayed };

/// How to run a job.
struct Way {
  int ranks = 0;  ///< 0: the sequential loop; -1: as many as there are logical processes
  partition::Policy policy;
  engine::QueueKind queue = engine::QueueKind::radix;
  Travel travel = Travel::in_order;
  std::uint64_t disturbance = 0;      ///< seed of travel
  std::uint64_t events_a_window = 0;  ///< budget of a rank; 0: the engine's own
  bool folded = false;

  std::string name() const;  ///< as options of `proteus simulate`, as far as it has them
};

Outcome run(const SmallJob& job, const Way& way);

/// The same with other prices or links.
Outcome run(const graph::Job& job, const cluster::Cluster& cluster, executor::Options options, const Way& way);

}  // namespace proteus::property
