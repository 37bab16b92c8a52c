// SPDX-License-Identifier: Apache-2.0
#include "strategy_read.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "catalog.hpp"
#include "proteus/strategy/mesh.hpp"
#include "runtime_yaml.hpp"

namespace proteus::io {
namespace {

namespace fs = std::filesystem;
using strategy::MegatronOptions;
using strategy::MeshSpec;
using strategy::Recompute;
using strategy::SchedulePolicy;
using strategy::Strategy;

constexpr std::int64_t kLargest = std::int64_t{1} << 31;

DataType training_type(const YamlItem& item) {
  return item.choice<DataType>({{"bf16", DataType::bf16}, {"fp16", DataType::fp16}, {"fp32", DataType::fp32}});
}

Recompute recompute_choice(const YamlItem& item) {
  return item.choice<Recompute>(
      {{"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}});
}

/// `written`: what the user wrote, without the preset's defaults: an error must not point into the catalog.
StrategySection read_megatron(const YamlItem& item, const YamlValue& written, const fs::path& catalog,
                              std::int64_t devices, std::int64_t layers) {
  const YamlMap map(item,
                    {"preset", "tp", "pp", "vpp", "dp", "sequence_parallel", "micro_batch", "global_batch", "recompute",
                     "distributed_optimizer", "overlap_grad_reduce", "account_for_embedding_in_pipeline_split",
                     "account_for_loss_in_pipeline_split", "dtype", "runtime", "tree"});
  MegatronOptions options;
  options.where = written.where;
  for (const YamlEntry& entry : written.entries) options.key_where[entry.key] = entry.value.where;
  options.tp = map.at("tp").integer(1, kLargest);
  options.pp = map.at("pp").integer(1, kLargest);
  options.vpp = map.at("vpp").integer(1, kLargest);
  if (auto dp = map.get("dp")) options.dp = dp->integer(1, kLargest);
  options.sequence_parallel = map.at("sequence_parallel").boolean();
  options.micro_batch = map.at("micro_batch").integer(1, kLargest);
  options.global_batch = map.at("global_batch").integer(1, kLargest);
  options.recompute = recompute_choice(map.at("recompute"));
  options.distributed_optimizer = map.at("distributed_optimizer").boolean();
  options.overlap_grad_reduce = map.at("overlap_grad_reduce").boolean();
  options.account_for_embedding_in_pipeline_split = map.at("account_for_embedding_in_pipeline_split").boolean();
  options.account_for_loss_in_pipeline_split = map.at("account_for_loss_in_pipeline_split").boolean();
  options.type = training_type(map.at("dtype"));
  if (auto tree = map.get("tree")) options.tree = read_tree(*tree);
  StrategySection section;
  section.runtime = read_runtime(map.at("runtime"), catalog);
  options.runtime = section.runtime.name;
  section.strategy = strategy::megatron(options, devices, layers);
  return section;
}

StrategySection read_data_parallel(const YamlItem& item, const YamlValue& written, const fs::path& catalog,
                                   std::int64_t devices) {
  const YamlMap map(item, {"preset", "micro_batch", "global_batch", "recompute", "dtype", "runtime", "tree"});
  strategy::DataParallelOptions options;
  options.where = written.where;
  options.micro_batch = map.at("micro_batch").integer(1, kLargest);
  options.global_batch = map.at("global_batch").integer(1, kLargest);
  options.recompute = recompute_choice(map.at("recompute"));
  options.type = training_type(map.at("dtype"));
  if (auto tree = map.get("tree")) options.tree = read_tree(*tree);
  StrategySection section;
  section.runtime = read_runtime(map.at("runtime"), catalog);
  options.runtime = section.runtime.name;
  section.strategy = strategy::data_parallel(options, devices);
  return section;
}

/// A preset's name stands for a file of the catalog: which generator, and what holds for the options left out.
StrategySection read_preset(const YamlItem& item, const fs::path& catalog, std::int64_t devices, std::int64_t layers) {
  enum class Generator : std::uint8_t { megatron, ddp };
  const YamlItem name(*item.value().find("preset"), item.path() + ".preset");
  const YamlValue preset = load_catalog_entry(catalog, "presets", name.text(), name);
  const YamlMap preset_map({preset, "preset"}, with_description_keys({"generator", "defaults"}));
  const auto generator =
      preset_map.at("generator").choice<Generator>({{"megatron", Generator::megatron}, {"ddp", Generator::ddp}});
  const YamlValue merged = merge(preset_map.at("defaults").value(), item.value());
  const YamlItem whole(merged, item.path());
  return generator == Generator::megatron ? read_megatron(whole, item.value(), catalog, devices, layers)
                                          : read_data_parallel(whole, item.value(), catalog, devices);
}

MeshSpec read_mesh(const YamlItem& item) {
  if (!item.is_map()) YamlMap(item, {"order", "views", "groups"});
  MeshSpec mesh;
  mesh.where = item.where();
  for (const auto& [key, value] : item.entries()) {
    if (key == "order") {
      mesh.order = value.texts();
    } else if (key == "views" || key == "groups") {
      auto& target = key == "views" ? mesh.views : mesh.groups;
      for (const auto& [name, axes] : value.entries()) target[name] = axes.texts();
    } else {
      mesh.sizes[key] = value.integer(1, kLargest);
    }
  }
  if (mesh.order.empty())
    throw InputError(item.where(), item.path() + ".order", "required key is missing",
                     "the axes, first the one that varies fastest, as [tp, dp, pp]");
  std::set<std::string> used;
  for (const std::string& axis : mesh.order) {
    if (!used.insert(axis).second) {
      throw InputError(item.where(), item.path() + ".order", "axis " + quoted_for_message(axis) + " stands twice",
                       "each axis once");
    }
  }
  for (const auto& [name, axes] : mesh.views) used.insert(axes.begin(), axes.end());
  for (const auto& [key, value] : item.entries()) {
    if (key == "order" || key == "views" || key == "groups" || used.contains(key)) continue;
    value.fail("no such axis", "an axis that stands in `order` or in a view");
  }
  return mesh;
}

strategy::Stages read_stages(const YamlItem& item) {
  const YamlMap map(item, {"axis", "chunks_per_stage", "chunks", "placement", "assign"});
  strategy::Stages stages;
  stages.where = item.where();
  stages.axis = map.at("axis").text();
  if (auto chunks = map.get("chunks_per_stage")) stages.chunks_per_stage = chunks->integer(1, kLargest);
  if (auto placement = map.get("placement")) {
    stages.placement = placement->choice<strategy::ChunkPlacement>(
        {{"loop", strategy::ChunkPlacement::loop}, {"v", strategy::ChunkPlacement::v}});
  }
  if (auto assign = map.get("assign")) stages.even = assign->choice<bool>({{"even", true}, {"equal", false}});
  if (auto chunks = map.get("chunks")) {
    for (const YamlItem& chunk : chunks->sequence()) stages.chunks.push_back(chunk.texts());
    if (stages.chunks.empty())
      chunks->fail("is empty", "a list of selectors for each chunk; without the key all are dealt");
  }
  return stages;
}

/// "I3.1": the letter of a pass, the micro-batch and, unless it is 0, the chunk.
strategy::Pass read_pass(const YamlItem& item) {
  const std::string text = item.text();
  strategy::Pass pass;
  const auto kinds = {strategy::PassKind::forward, strategy::PassKind::backward, strategy::PassKind::input_gradient,
                      strategy::PassKind::weight_gradient};
  const auto* kind = std::ranges::find_if(kinds, [&](auto k) { return text.starts_with(letter_of(k)); });
  const auto number = [](std::string_view digits, std::int64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end == digits.data() + digits.size() && value >= 0 && value < kLargest;
  };
  const std::size_t dot = text.find('.');
  const bool good = kind != kinds.end() && number(std::string_view(text).substr(1, dot - 1), pass.micro_batch) &&
                    (dot == std::string::npos || number(std::string_view(text).substr(dot + 1), pass.chunk));
  if (!good) item.fail("no pass", "F, B, I or W with the micro-batch and the chunk of the stage, as F3 or W0.1");
  pass.kind = *kind;
  return pass;
}

void read_schedule(const YamlItem& item, Strategy& s) {
  const YamlMap map(item, {"policy", "order"});
  s.schedule = map.at("policy").choice<SchedulePolicy>({{"1f1b", SchedulePolicy::one_f_one_b},
                                                        {"interleaved-1f1b", SchedulePolicy::interleaved_1f1b},
                                                        {"gpipe", SchedulePolicy::gpipe},
                                                        {"zb-h1", SchedulePolicy::zb_h1},
                                                        {"listed", SchedulePolicy::listed}});
  const auto order = map.get("order");
  if (s.schedule == SchedulePolicy::listed) {
    for (const YamlItem& stage : map.at("order").sequence()) {
      s.order.emplace_back();
      for (const YamlItem& pass : stage.sequence()) s.order.back().push_back(read_pass(pass));
    }
  } else if (order) {
    order->fail("only the policy `listed` has an order", "no such key, or policy: listed");
  }
}

/// A job without a pipeline has one stage.
void add_axis_of_one_stage(MeshSpec& mesh, const std::string& axis) {
  const bool known = std::ranges::find(mesh.order, axis) != mesh.order.end() || mesh.groups.contains(axis) ||
                     std::ranges::any_of(mesh.views, [&](const auto& view) {
                       return std::ranges::find(view.second, axis) != view.second.end();
                     });
  if (known) return;
  mesh.order.push_back(axis);
  mesh.sizes[axis] = 1;
}

StrategySection read_direct(const YamlItem& item, const fs::path& catalog) {
  const YamlMap map(item, {"mesh", "tree", "stages", "schedule", "micro_batch", "global_batch", "batch_axis", "dtype",
                           "runtime", "overlap_gradient_reduction", "preset"});
  StrategySection section;
  Strategy& s = section.strategy;
  s.where = item.where();
  if (!map.has("mesh")) map.fail("preset", "the section has neither `preset` nor `mesh`", "one of them");
  s.mesh = read_mesh(map.at("mesh"));
  s.tree = read_tree(map.at("tree"));
  if (auto stages = map.get("stages")) {
    s.stages = read_stages(*stages);
  } else {
    s.stages.where = item.where();
    add_axis_of_one_stage(s.mesh, s.stages.axis);
  }
  if (auto schedule = map.get("schedule")) read_schedule(*schedule, s);
  s.micro_batch = map.at("micro_batch").integer(1, kLargest);
  s.global_batch = map.at("global_batch").integer(1, kLargest);
  s.batch_axis = map.text_or("batch_axis", s.batch_axis);
  if (auto type = map.get("dtype")) s.type = training_type(*type);
  if (auto overlap = map.get("overlap_gradient_reduction")) s.overlap_gradient_reduction = overlap->boolean();
  section.runtime = read_runtime(map.at("runtime"), catalog);
  s.runtime = section.runtime.name;
  return section;
}

void expect_axes(const strategy::Mesh& mesh, const std::vector<std::string>& axes, const SourceLocation& where,
                 const std::string& key) {
  for (const std::string& axis : axes) {
    if (!mesh.has_axis(axis)) {
      throw InputError(where, key, "the mesh has no axis " + quoted_for_message(axis), "an axis or group of the mesh");
    }
  }
}

/// What holds for a strategy however it was written.
void check(const Strategy& s, const YamlItem& item, std::int64_t devices) {
  const std::string& path = item.path();
  const strategy::Mesh mesh(s.mesh, devices);
  expect_axes(mesh, {s.stages.axis}, s.stages.where, path + ".stages.axis");
  const YamlItem batch(item.value().find("batch_axis") ? *item.value().find("batch_axis") : item.value(), path);
  expect_axes(mesh, {s.batch_axis}, batch.where(), path + ".batch_axis");
  for (const strategy::Annotation& entry : s.tree) {
    const std::string key = path + ".tree." + printable(entry.selector);
    if (entry.split) {
      for (const auto& [dim, axes] : *entry.split) expect_axes(mesh, axes, entry.where, key);
    }
    for (const auto& [what, axes] : entry.store) expect_axes(mesh, axes, entry.where, key);
  }
  const std::int64_t stages = mesh.axis_size(s.stages.axis);
  if (s.stages.chunks_per_stage > 1 && s.schedule != SchedulePolicy::interleaved_1f1b &&
      s.schedule != SchedulePolicy::listed) {
    throw InputError(s.stages.where, path + ".stages.chunks_per_stage", "more than one chunk a stage",
                     "1, or the schedule interleaved-1f1b or listed");
  }
  const auto chunks = static_cast<std::int64_t>(s.stages.chunks.size());
  if (chunks > 0 && (chunks % stages != 0 || chunks / stages != s.stages.chunks_per_stage)) {
    throw InputError(s.stages.where, path + ".stages.chunks", std::to_string(chunks) + " chunks",
                     std::to_string(stages) + " stages times chunks_per_stage");
  }
  const std::int64_t step = s.micro_batch * mesh.axis_size(s.batch_axis);
  if (s.global_batch % step != 0) {
    const YamlValue* value = item.value().find("global_batch");
    throw InputError(
        value != nullptr ? value->where : s.where, path + ".global_batch",
        std::to_string(s.global_batch) + " does not divide by micro_batch times replicas = " + std::to_string(step),
        "a multiple of it");
  }
}

}  // namespace

StrategySection read_strategy(const YamlItem& item, const fs::path& catalog, std::int64_t devices,
                              std::int64_t layers) {
  const bool preset = item.is_map() && item.value().find("preset") != nullptr;
  StrategySection section = preset ? read_preset(item, catalog, devices, layers) : read_direct(item, catalog);
  check(section.strategy, item, devices);
  return section;
}

}  // namespace proteus::io
