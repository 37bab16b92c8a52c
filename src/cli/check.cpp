// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>

#include "command.hpp"
#include "options.hpp"
#include "prepared_job.hpp"

namespace proteus::cli {

int run_check(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  options.add_options()("set", po::value<std::vector<std::string>>()->composing(),
                        "PATH.TO.KEY=VALUE: override a key of the experiment; may be repeated")(
      "print-config", "print the whole resolved experiment, which reproduces it when fed back");
  po::variables_map values;
  if (!parse(arguments, "proteus check EXPERIMENT.yaml [options]", options, {"EXPERIMENT"}, values))
    return exit_success;
  const PreparedJob prepared = prepare(values["EXPERIMENT"].as<std::string>(), all_of(values, "set"));
  if (values.contains("print-config")) {
    std::cout << prepared.experiment.resolved;
    return exit_success;
  }
  const graph::Job& job = prepared.job;
  std::int64_t rows = 0;
  for (std::uint32_t number : job.program_of_stage) rows += job.programs[number].rows();
  rows *= job.devices / job.stage_count * job.iterations;
  std::string mesh;
  for (const auto& [axis, size] : job.mesh) mesh += fmt::format("{}{} {}", mesh.empty() ? "" : ", ", axis, size);
  std::cout << fmt::format(
      "{}: correct\n  model      {}\n  cluster    {} x {} = {} GPUs\n  mesh       {}\n  classes    {}\n  rows       {} "
      "in {} iterations\n",
      values["EXPERIMENT"].as<std::string>(), prepared.experiment.model.name, prepared.experiment.cluster.nodes,
      prepared.experiment.cluster.node.name, job.devices, mesh, job.programs.size(), rows, job.iterations);
  return exit_success;
}

}  // namespace proteus::cli
