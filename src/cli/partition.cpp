// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/coupling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "options.hpp"
#include "prepared_job.hpp"

namespace proteus::cli {
namespace {

struct Row {
  std::string policy;
  partition::Prediction prediction;
};

nlohmann::ordered_json to_json(const Row& row) {
  const partition::Prediction& p = row.prediction;
  return {{"policy", row.policy}, {"efficiency", p.efficiency},     {"balance", p.balance},
          {"windows", p.windows}, {"cut_messages", p.cut_messages}, {"memory_bytes", p.memory_bytes},
          {"events", p.events},   {"objects", p.objects},           {"devices", p.devices}};
}

std::string to_text(const Row& row) {
  const partition::Prediction& p = row.prediction;
  const auto [least, most] = std::minmax_element(p.devices.begin(), p.devices.end());
  const auto empty = std::count(p.objects.begin(), p.objects.end(), 0u);
  return fmt::format("  {:<10} {:>9.1f} % {:>8.1f} % {:>10.0f} {:>12.0f} {:>8}-{} {:>8} {:>10.1f}\n", row.policy,
                     100 * p.efficiency, 100 * p.balance, p.windows, p.cut_messages, *least, *most, empty,
                     p.memory_bytes / (1024 * 1024));
}

}  // namespace

int run_partition(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  options.add_options()("ranks", po::value<int>(), "number of ranks to predict for")(
      "partition", po::value<std::string>(), "one policy instead of all; see proteus simulate --help")(
      "json", "print JSON")("set", po::value<std::vector<std::string>>()->composing(),
                            "PATH.TO.KEY=VALUE: override a key of the experiment; may be repeated");
  options.add_options()("partition-from", po::value<std::string>()->default_value(""),
                        "timeline of an earlier run of the experiment: predict from the events that it counted");
  po::variables_map values;
  if (!parse(arguments, "proteus partition EXPERIMENT.yaml --ranks N [options]", options, {"EXPERIMENT"}, values)) {
    return exit_success;
  }
  if (!values.contains("ranks")) throw UsageError("--ranks is missing");
  const int ranks = values["ranks"].as<int>();
  if (ranks < 1) throw UsageError("--ranks takes a positive number");
  std::vector<std::string> policies{"replica", "block", "metis"};
  if (values.contains("partition")) policies = {values["partition"].as<std::string>()};
  for (const std::string& policy : policies) partition::policy_from(policy);

  const PreparedJob prepared = prepare(values["EXPERIMENT"].as<std::string>(), all_of(values, "set"));
  const auto objects = std::make_shared<const partition::Objects>(prepared.job, prepared.experiment.cluster);
  const std::string from = values["partition-from"].as<std::string>();
  const std::vector<double> measured = measured_events(from, prepared, *objects);
  const partition::CouplingGraph graph = partition::couplings(prepared.job, *objects, measured);
  std::vector<Row> rows;
  for (const std::string& policy : policies) {
    const auto assignment = partition::assign(prepared.job, objects, partition::policy_from(policy), ranks, measured);
    rows.push_back({std::string(partition::name_of(assignment.kind)), predict(prepared.job, graph, assignment)});
  }
  const auto best = std::max_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.prediction.efficiency < b.prediction.efficiency;
  });
  if (values.contains("json")) {
    nlohmann::ordered_json json{{"ranks", ranks},
                                {"objects", objects->count()},
                                {"islands", objects->islands()},
                                {"communicators", objects->communicators()},
                                {"domains", objects->domains()},
                                {"events_from", from.empty() ? nlohmann::json() : nlohmann::json(from)},
                                {"best", best->policy},
                                {"policies", nlohmann::ordered_json::array()}};
    for (const Row& row : rows) json["policies"].push_back(to_json(row));
    std::cout << json.dump(1) << "\n";
    return exit_success;
  }
  std::cout << fmt::format("{} islands, {} communicators between them, {} fabric domains on {} ranks\n",
                           objects->islands(), objects->communicators(), objects->domains(), ranks)
            << (from.empty() ? "" : "events as counted in " + from + "\n")
            << "  policy     efficiency    balance    windows cut messages   GPUs a rank   empty   MiB a rank\n";
  for (const Row& row : rows) std::cout << to_text(row);
  if (rows.size() > 1) std::cout << "auto takes " << best->policy << "\n";
  return exit_success;
}

}  // namespace proteus::cli
