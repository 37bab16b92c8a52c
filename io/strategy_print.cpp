// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/strategy_yaml.hpp"
#include "runtime_yaml.hpp"
#include "strategy_read.hpp"

namespace proteus::io {
namespace {

using strategy::Annotation;
using strategy::Recompute;
using strategy::Strategy;

YamlValue text(const std::string& value) { return YamlValue::string(value); }
YamlValue integer(std::int64_t value) { return YamlValue::plain(std::to_string(value)); }

YamlValue texts(const std::vector<std::string>& values) {
  YamlValue list = YamlValue::sequence();
  for (const std::string& value : values) list.items.push_back(text(value));
  return list;
}

/// The short form where one axis suffices.
YamlValue axes(const std::vector<std::string>& values) {
  return values.size() == 1 ? text(values.front()) : texts(values);
}

std::string recompute_name(Recompute recompute) {
  switch (recompute) {
    case Recompute::none:
      return "none";
    case Recompute::selective:
      return "selective";
    case Recompute::full:
      return "full";
  }
  return "";
}

YamlValue axes_by_name(const std::map<std::string, std::vector<std::string>>& named) {
  YamlValue map = YamlValue::map();
  for (const auto& [name, values] : named) map.set(name, axes(values));
  return map;
}

YamlValue annotation(const Annotation& entry) {
  YamlValue body = YamlValue::map();
  if (entry.split) body.set("split", axes_by_name(*entry.split));
  if (!entry.store.empty()) body.set("store", axes_by_name(entry.store));
  if (entry.recompute) body.set("recompute", text(recompute_name(*entry.recompute)));
  if (entry.implementation) body.set("implementation", text(*entry.implementation));
  YamlValue map = YamlValue::map();
  map.set(entry.selector, body);
  return map;
}

YamlValue mesh(const strategy::MeshSpec& spec) {
  YamlValue map = YamlValue::map();
  map.set("order", texts(spec.order));
  for (const auto& [axis, size] : spec.sizes) map.set(axis, integer(size));
  YamlValue views = YamlValue::map();
  for (const auto& [name, members] : spec.views) views.set(name, texts(members));
  if (!spec.views.empty()) map.set("views", views);
  YamlValue groups = YamlValue::map();
  for (const auto& [name, members] : spec.groups) groups.set(name, texts(members));
  if (!spec.groups.empty()) map.set("groups", groups);
  return map;
}

}  // namespace

YamlValue strategy_section_to_yaml(const Strategy& s, YamlValue runtime) {
  YamlValue tree = YamlValue::sequence();
  for (const Annotation& entry : s.tree) tree.items.push_back(annotation(entry));
  YamlValue stages = YamlValue::map();
  stages.set("axis", text(s.stages.axis)).set("chunks_per_stage", integer(s.stages.chunks_per_stage));
  YamlValue chunks = YamlValue::sequence();
  for (const auto& chunk : s.stages.chunks) chunks.items.push_back(texts(chunk));
  if (!s.stages.chunks.empty()) stages.set("chunks", chunks);
  if (s.stages.placement != strategy::ChunkPlacement::loop)
    stages.set("placement", text(std::string(strategy::name_of(s.stages.placement))));
  if (s.stages.even) stages.set("assign", text("even"));
  YamlValue schedule = YamlValue::map();
  schedule.set("policy", text(std::string(strategy::name_of(s.schedule))));
  YamlValue order = YamlValue::sequence();
  for (const auto& passes : s.order) {
    YamlValue line = YamlValue::sequence();
    for (const strategy::Pass& pass : passes) line.items.push_back(text(text_of(pass)));
    order.items.push_back(line);
  }
  if (!s.order.empty()) schedule.set("order", order);

  YamlValue map = YamlValue::map();
  map.set("mesh", mesh(s.mesh)).set("tree", tree).set("stages", stages).set("schedule", schedule);
  map.set("micro_batch", integer(s.micro_batch)).set("global_batch", integer(s.global_batch));
  map.set("batch_axis", text(s.batch_axis)).set("dtype", text(std::string(name_of(s.type))));
  map.set("overlap_gradient_reduction", YamlValue::plain(s.overlap_gradient_reduction ? "true" : "false"));
  map.set("runtime", std::move(runtime));
  return map;
}

std::string strategy_to_yaml(const Strategy& strategy) {
  YamlValue root = YamlValue::map();
  root.set("strategy", strategy_section_to_yaml(strategy, text(strategy.runtime)));
  return print_yaml(root);
}

std::string strategy_to_json(const Strategy& strategy, const strategy::Runtime& runtime) {
  YamlValue root = YamlValue::map();
  root.set("strategy", strategy_section_to_yaml(strategy, runtime_to_yaml(runtime)));
  return print_json(root);
}

}  // namespace proteus::io
