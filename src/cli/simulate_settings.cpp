// SPDX-License-Identifier: Apache-2.0
#include "simulate_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "command.hpp"
#include "heartbeat.hpp"
#include "options.hpp"

namespace proteus::cli {
namespace {

std::optional<executor::FoldMode> fold_mode(const std::string& text) {
  if (text == "none") return std::nullopt;
  if (text == "exact") return executor::FoldMode::exact;
  if (text == "approx") return executor::FoldMode::approx;
  throw UsageError("--fold takes none, exact or approx, not '" + text + "'");
}

engine::QueueKind queue_kind(const std::string& text) {
  if (text == "radix") return engine::QueueKind::radix;
  if (text == "binary") return engine::QueueKind::binary;
  throw UsageError("--queue takes radix or binary, not '" + text + "'");
}

void check_trace(const std::string& text) {
  constexpr std::array<std::string_view, 4> levels{"none", "summary", "comm", "all"};
  if (std::ranges::find(levels, text) == levels.end())
    throw UsageError("--trace takes none, summary, comm or all, not '" + text + "'");
}

void check_seed(const std::string& text) {
  constexpr std::size_t most_digits = 18;
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (!number || text.size() > most_digits)
    throw UsageError("--seed takes a whole number of at most 18 digits, not '" + text + "'");
}

/// Empty where the option is not there; it may not be empty where it is.
std::string file_name(const po::variables_map& values, const std::string& option) {
  if (!values.contains(option)) return "";
  auto name = values[option].as<std::string>();
  if (name.empty()) throw UsageError("--" + option + " takes the name of a file, not ''");
  return name;
}

}  // namespace

std::optional<SimulateSettings> parse_simulate_settings(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  auto add = options.add_options();
  add("set", po::value<std::vector<std::string>>()->composing(),
      "PATH.TO.KEY=VALUE: override a key of the experiment; may be repeated");
  add("output,o", po::value<std::string>(), "HDF5 timeline; written as FILE.part until complete");
  add("json", po::value<std::string>(), "write the summary as JSON");
  add("trace", po::value<std::string>(), "none, summary, comm or all: rows that the timeline holds");
  add("seed", po::value<std::string>(), "seed of all random numbers");
  add("partition", po::value<std::string>()->default_value("auto"),
      "auto, replica, block, metis, each or random:SEED: which rank simulates which nodes; results do not depend on "
      "it");
  add("partition-from", po::value<std::string>()->default_value(""),
      "timeline of an earlier run of the experiment: auto and metis go by the events that it counted");
  add("virtual-ranks", po::value<int>(), "simulate with this many ranks in one process");
  add("fold", po::value<std::string>()->default_value("none"),
      "none, exact or approx: simulate one node of each kind for all that are alike; exact gives what none does");
  add("heartbeat", po::value<double>(),
      "seconds between two lines that tell how far the run is, 0: never; default: 5 on a terminal, else never");
  add("queue", po::value<std::string>()->default_value("radix"),
      "radix or binary: heap of the pending events; results do not depend on it");
  add("sequential", "one loop over all events, without windows: the reference");
  po::variables_map values;
  if (!parse(arguments, "proteus simulate EXPERIMENT.yaml [options]", options, {"EXPERIMENT"}, values))
    return std::nullopt;

  SimulateSettings settings;
  settings.experiment = values["EXPERIMENT"].as<std::string>();
  settings.overrides = all_of(values, "set");
  if (values.contains("trace")) check_trace(values["trace"].as<std::string>());
  if (values.contains("seed")) check_seed(values["seed"].as<std::string>());
  if (values.contains("trace")) settings.overrides.push_back("simulate.trace=" + values["trace"].as<std::string>());
  if (values.contains("seed")) settings.overrides.push_back("simulate.seed=" + values["seed"].as<std::string>());
  settings.output = file_name(values, "output");
  settings.json = file_name(values, "json");
  settings.partition = values["partition"].as<std::string>();
  settings.partition_from = values["partition-from"].as<std::string>();
  if (values.contains("virtual-ranks")) {
    settings.virtual_ranks = values["virtual-ranks"].as<int>();
    constexpr int most = 4096;  // each has its own tables
    if (settings.virtual_ranks < 1 || settings.virtual_ranks > most) {
      throw UsageError(fmt::format("--virtual-ranks takes a number from 1 to {}", most));
    }
  }
  settings.fold = fold_mode(values["fold"].as<std::string>());
  if (settings.fold && !settings.partition_from.empty())
    throw UsageError("--fold and --partition-from exclude each other: what is folded has logical processes of its own");
  settings.heartbeat = heartbeat_seconds(values.contains("heartbeat") ? &values["heartbeat"].as<double>() : nullptr);
  settings.queue = queue_kind(values["queue"].as<std::string>());
  settings.sequential = values.contains("sequential");
  if (settings.sequential && settings.virtual_ranks > 0)
    throw UsageError("--sequential and --virtual-ranks exclude each other");
  settings.command_line = "proteus simulate";
  for (const std::string& argument : arguments) settings.command_line += " " + argument;
  return settings;
}

}  // namespace proteus::cli
