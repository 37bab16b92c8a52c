// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>

#include "command.hpp"
#include "launcher.hpp"
#include "options.hpp"
#include "proteus/io/timeline_diff.hpp"

namespace proteus::cli {

int run_diff(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  options.add_options()("limit", po::value<std::int64_t>()->default_value(20),
                        "list at most this many differences; 0: none, the verdict alone");
  po::variables_map values;
  const std::string usage = "proteus diff A.h5 B.h5 [--limit N]";
  if (!parse(arguments, usage, options, {"A", "B"}, values)) return exit_success;
  const auto limit = values["limit"].as<std::int64_t>();
  if (limit < 0) throw UsageError("--limit takes a number from 0 on; usage: " + usage);
  const auto most = static_cast<std::size_t>(limit);
  const io::TimelineComparison found =
      io::compare_timelines(values["A"].as<std::string>(), values["B"].as<std::string>(), most);
  for (std::size_t i = 0; i < std::min(most, found.differences.size()); ++i) {
    std::cout << found.differences[i].path << ": " << found.differences[i].what << "\n";
  }
  std::cout << (found.differences.empty() ? "equal\n" : "different\n");
  if (rank_from_environment() == 0) {
    for (const std::filesystem::path& file : found.incomplete) {
      std::cerr << "proteus: warning: " + file.string() +
                       " is not complete: rows that its run has not written compare as such\n";
    }
  }
  return found.differences.empty() ? exit_success : exit_failure;
}

}  // namespace proteus::cli
