// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "proteus/base/time.hpp"
#include "proteus/cluster/cluster.hpp"
#include "proteus/model/model.hpp"
#include "proteus/strategy/runtime.hpp"
#include "proteus/strategy/strategy.hpp"

namespace proteus::io {

enum class TraceLevel : std::uint8_t { none, summary, comm, all };

/// `simulate.delays`: makes one op of one device longer, to ask what a straggler does (and to test the state hash).
struct Delay {
  std::int64_t device = 0;
  std::int64_t position = 0;  ///< program position over the run
  Time by;
  SourceLocation where;
};

/// Section `simulate:` of an experiment.
struct SimulateOptions {
  std::int64_t iterations = 2;
  TraceLevel trace = TraceLevel::summary;
  std::vector<std::int64_t> trace_devices;  ///< empty: all; written as a list or as "FIRST:LAST[:STEP]" (half open)
  std::uint64_t seed = 0;
  double compute_jitter = 0;         ///< relative standard deviation of every compute op; 0 = off
  std::string network = "max-min";   ///< or "fair-share"
  std::string compress = "deflate";  ///< or "none"
  std::vector<Delay> delays;
};

/// An experiment file, read, checked and with all names looked up in the catalog.
struct Experiment {
  std::filesystem::path file;
  std::filesystem::path model_file;  ///< the config.json of the model; empty where there is none
  model::Model model;
  cluster::Cluster cluster;
  strategy::Strategy strategy;
  strategy::Runtime runtime;
  SimulateOptions simulate;
  std::string resolved;  ///< the whole resolved input as YAML; reading it gives the same experiment
};

/// Reads `file`; `overrides` are "path.to.key=value" (value is YAML), applied before checking.
/// Throws InputError: unknown key (with the nearest known one), missing unit, wrong type, duplicate key, degree that
/// does not divide, name that the catalog lacks. Never a silent default for something misspelt.
Experiment read_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                           const std::filesystem::path& catalog);

/// The catalog directory: $PROTEUS_CATALOG, else share/proteus/catalog next to the installed binary, else the source
/// tree's.
std::filesystem::path find_catalog();

/// Names in one section of the catalog: "gpus", "nodes", "clusters", "models", "presets", "runtimes"; sorted.
struct CatalogEntry {
  std::string name;
  std::string description;  ///< one line for the terminal
  std::string source;
};
std::vector<CatalogEntry> list_catalog(const std::string& section, const std::filesystem::path& catalog);

}  // namespace proteus::io
