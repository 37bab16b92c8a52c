// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "proteus/executor/run.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/io/experiment.hpp"
#include "proteus/partition/objects.hpp"

namespace proteus::cli {

/// An experiment and what the compiler made of it.
struct PreparedJob {
  io::Experiment experiment;
  graph::Job job;
  double compile_seconds = 0;
};

/// Reads and compiles; throws InputError.
PreparedJob prepare(const std::string& file, const std::vector<std::string>& overrides);

/// Events by object of an earlier run of the experiment, from its timeline; empty where `file` is. Throws InputError.
std::vector<double> measured_events(const std::string& file, const PreparedJob& prepared,
                                    const partition::Objects& objects);

/// What section `simulate` says about the run itself.
executor::Options executor_options(const io::SimulateOptions& simulate);

}  // namespace proteus::cli
