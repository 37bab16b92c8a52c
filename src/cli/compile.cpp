// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

#include "command.hpp"
#include "options.hpp"
#include "prepared_job.hpp"
#include "prints.hpp"

namespace proteus::cli {
namespace {

struct Print {
  const char* name;
  std::string (*make)(const PreparedJob&, PrintFormat);
  bool as_dot = false;
};
constexpr std::array<Print, 5> prints = {{{"tree", print_tree},
                                          {"graph", print_graph, true},
                                          {"programs", print_programs},
                                          {"collectives", print_collectives},
                                          {"memory", print_memory}}};

std::string names_joined_by(const char* separator) {
  std::vector<const char*> names;
  for (const Print& print : prints) names.push_back(print.name);
  return fmt::format("{}", fmt::join(names, separator));
}

const Print& print_named(const std::string& name) {
  const auto* found =
      std::find_if(prints.begin(), prints.end(), [&](const Print& print) { return print.name == name; });
  if (found == prints.end()) throw UsageError("--print " + name + " (expected " + names_joined_by(", ") + ")");
  return *found;
}

PrintFormat format_named(const std::string& name, const Print& print) {
  if (name == "text") return PrintFormat::text;
  if (name == "json") return PrintFormat::json;
  if (name == "dot" && print.as_dot) return PrintFormat::dot;
  throw UsageError("--format " + name + " (expected text or json" + (print.as_dot ? " or dot)" : ")"));
}

}  // namespace

int run_compile(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  auto add = options.add_options();
  add("set", po::value<std::vector<std::string>>()->composing(),
      "PATH.TO.KEY=VALUE: override a key of the experiment; may be repeated");
  add("print", po::value<std::string>()->default_value("programs"), ("what to show: " + names_joined_by(", ")).c_str());
  add("format", po::value<std::string>()->default_value("text"),
      "text or json (text of tree: YAML that can be fed back); dot for graph (Graphviz)");
  po::variables_map values;
  if (!parse(arguments, "proteus compile EXPERIMENT.yaml --print " + names_joined_by("|") + " [options]", options,
             {"EXPERIMENT"}, values))
    return exit_success;
  const Print& print = print_named(values["print"].as<std::string>());
  const PrintFormat format = format_named(values["format"].as<std::string>(), print);
  const PreparedJob prepared = prepare(values["EXPERIMENT"].as<std::string>(), all_of(values, "set"));
  std::cout << print.make(prepared, format);
  return exit_success;
}

}  // namespace proteus::cli
