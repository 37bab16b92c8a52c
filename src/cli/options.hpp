// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace proteus::cli {

namespace po = boost::program_options;

/// Parses the arguments of a subcommand. `positional`: names of positional options in order. Prints the help to
/// standard output and returns false where it was asked for. Throws UsageError.
bool parse(const std::vector<std::string>& arguments, const std::string& usage, const po::options_description& visible,
           const std::vector<std::string>& positional, po::variables_map& values);

/// The values of one repeated option; empty where it is absent.
std::vector<std::string> all_of(const po::variables_map& values, const std::string& name);

}  // namespace proteus::cli
