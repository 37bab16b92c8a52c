// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <iostream>

#include "command.hpp"

namespace proteus::cli {

bool parse(const std::vector<std::string>& arguments, const std::string& usage, const po::options_description& visible,
           const std::vector<std::string>& positional, po::variables_map& values) {
  po::options_description all;
  all.add(visible);
  all.add_options()("help,h", "show this help and exit");
  po::options_description hidden;
  po::positional_options_description order;
  for (const std::string& name : positional) {
    hidden.add_options()(name.c_str(), po::value<std::string>());
    order.add(name.c_str(), 1);
  }
  po::options_description everything;
  everything.add(all).add(hidden);
  try {
    // No guessing of abbreviated options: --tra would be another option tomorrow.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(everything).positional(order).style(style).run(), values);
    po::notify(values);
  } catch (const po::error& error) {
    throw UsageError(std::string(error.what()) + "; usage: " + usage);
  }
  if (values.contains("help")) {
    std::cout << "usage: " << usage << "\n\n" << all;
    return false;
  }
  for (const std::string& name : positional) {
    if (!values.contains(name)) throw UsageError("missing argument " + name + "; usage: " + usage);
  }
  return true;
}

std::vector<std::string> all_of(const po::variables_map& values, const std::string& name) {
  return values.contains(name) ? values[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

}  // namespace proteus::cli
