// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "command.hpp"
#include "options.hpp"
#include "proteus/io/timeline.hpp"

namespace proteus::cli {

int run_diff(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  options.add_options()("limit", po::value<std::size_t>()->default_value(20), "list at most this many differences");
  po::variables_map values;
  if (!parse(arguments, "proteus diff A.h5 B.h5 [--limit N]", options, {"A", "B"}, values)) return exit_success;
  const auto differences = io::diff_timelines(values["A"].as<std::string>(), values["B"].as<std::string>(),
                                              values["limit"].as<std::size_t>());
  for (const io::Difference& difference : differences) std::cout << difference.path << ": " << difference.what << "\n";
  std::cout << (differences.empty() ? "equal\n" : "different\n");
  return differences.empty() ? exit_success : exit_failure;
}

}  // namespace proteus::cli
