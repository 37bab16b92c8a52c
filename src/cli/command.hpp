// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace proteus::cli {

/// Exit statuses (docs/usage.md).
inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;  ///< internal error, failed simulation, or files that differ
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_cannot_write = 73;  ///< sysexits EX_CANTCREAT
inline constexpr int exit_stopped = 75;       ///< by a signal, outputs valid so far (sysexits EX_TEMPFAIL)

/// The command line is wrong: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One subcommand; `arguments` are those behind its name.
struct Command {
  const char* name;
  const char* summary;
  int (*run)(const std::vector<std::string>& arguments);
};

int run_simulate(const std::vector<std::string>& arguments);
int run_check(const std::vector<std::string>& arguments);
int run_compile(const std::vector<std::string>& arguments);
int run_partition(const std::vector<std::string>& arguments);
int run_catalog(const std::vector<std::string>& arguments);
int run_diff(const std::vector<std::string>& arguments);

/// Version, revision and library versions, as `--version` prints them.
std::string version_text();

}  // namespace proteus::cli
