// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "command.hpp"
#include "options.hpp"
#include "proteus/io/experiment.hpp"

namespace proteus::cli {

int run_catalog(const std::vector<std::string>& arguments) {
  constexpr std::array sections = {"gpus", "nodes", "clusters", "models", "presets", "runtimes"};
  po::options_description options("options");
  options.add_options()("sources", "say where each entry's numbers come from");
  po::variables_map values;
  if (!parse(arguments, "proteus catalog gpus|nodes|clusters|models|presets|runtimes [--sources]", options, {"SECTION"},
             values))
    return exit_success;
  const auto section = values["SECTION"].as<std::string>();
  if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
    throw UsageError("no section `" + section +
                     "` in the catalog; sections: " + fmt::format("{}", fmt::join(sections, ", ")));
  }
  for (const io::CatalogEntry& entry : io::list_catalog(section, io::find_catalog())) {
    std::cout << fmt::format("{:<24} {}\n", entry.name, entry.description);
    if (values.contains("sources")) std::cout << fmt::format("{:<24}   source: {}\n", "", entry.source);
  }
  return exit_success;
}

}  // namespace proteus::cli
