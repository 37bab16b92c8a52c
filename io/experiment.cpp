// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/experiment.hpp"

#include "cluster_yaml.hpp"
#include "model_yaml.hpp"
#include "runtime_yaml.hpp"
#include "simulate_yaml.hpp"
#include "strategy_read.hpp"
#include "yaml_parse.hpp"

namespace proteus::io {
namespace {

std::string resolved_text(const Experiment& experiment) {
  YamlValue root = YamlValue::map();
  root.set("model", model_to_yaml(experiment.model));
  root.set("cluster", cluster_to_yaml(experiment.cluster));
  root.set("strategy", strategy_section_to_yaml(experiment.strategy, runtime_to_yaml(experiment.runtime)));
  root.set("simulate", simulate_to_yaml(experiment.simulate));
  return print_yaml(root);
}

}  // namespace

Experiment read_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                           const std::filesystem::path& catalog) {
  YamlValue root = parse_yaml_file(file);
  for (const std::string& text : overrides) apply_override(root, text);
  if (root.kind == YamlValue::Kind::null) {
    throw InputError({file.string(), 1, 1}, "", "the file is empty", "the sections model, cluster and strategy");
  }
  const YamlMap map({root, ""}, {"description", "source", "model", "cluster", "strategy", "simulate"});

  Experiment experiment;
  experiment.file = file;
  experiment.model_file = model_file(map.at("model"), file.parent_path());
  experiment.model = read_model(map.at("model"), catalog, file.parent_path());
  experiment.cluster = read_cluster(map.at("cluster"), catalog);
  const std::int64_t devices = experiment.cluster.devices();
  StrategySection section = read_strategy(map.at("strategy"), catalog, devices, experiment.model.layers());
  experiment.strategy = std::move(section.strategy);
  experiment.runtime = std::move(section.runtime);
  if (auto simulate = map.get("simulate")) experiment.simulate = read_simulate(*simulate, devices);
  experiment.resolved = resolved_text(experiment);
  return experiment;
}

}  // namespace proteus::io
