// SPDX-License-Identifier: Apache-2.0
#include "runtime_yaml.hpp"

#include <array>

#include "catalog.hpp"
#include "units.hpp"

namespace proteus::io {
namespace {

using strategy::Role;
using strategy::Rule;
using strategy::RuleEffect;
using strategy::RuleMatch;
using strategy::Runtime;

constexpr std::array<std::pair<std::string_view, Role>, 9> kRoles = {{
    {"activation", Role::activation},
    {"saved", Role::saved},
    {"activation_gradient", Role::activation_gradient},
    {"gradient", Role::gradient},
    {"replicated_gradient", Role::replicated_gradient},
    {"shared_gradient", Role::shared_gradient},
    {"parameter", Role::parameter},
    {"pipeline", Role::pipeline},
    {"scalar", Role::scalar},
}};

/// A word of a fixed vocabulary that the runtime keeps as text.
std::optional<std::string> word(const YamlMap& map, std::string_view key,
                                std::initializer_list<std::pair<std::string_view, std::string_view>> words) {
  auto item = map.get(key);
  if (!item) return std::nullopt;
  return std::string(item->choice<std::string_view>(words));
}

RuleMatch read_match(const YamlItem& item) {
  const YamlMap map(item, {"role", "pass", "collective", "schedule"});
  RuleMatch match;
  if (auto role = map.get("role")) {
    match.role = role->choice(std::span<const std::pair<std::string_view, Role>>(kRoles));
  }
  match.pass = word(map, "pass", {{"forward", "forward"}, {"backward", "backward"}, {"epilogue", "epilogue"}});
  match.collective = word(map, "collective",
                          {{"all-reduce", "all-reduce"},
                           {"all-gather", "all-gather"},
                           {"reduce-scatter", "reduce-scatter"},
                           {"all-to-all", "all-to-all"},
                           {"broadcast", "broadcast"},
                           {"send-receive", "send-receive"}});
  match.schedule = word(map, "schedule",
                        {{"1f1b", "1f1b"},
                         {"interleaved-1f1b", "interleaved-1f1b"},
                         {"gpipe", "gpipe"},
                         {"zb-h1", "zb-h1"},
                         {"listed", "listed"}});
  return match;
}

RuleEffect read_effect(const YamlItem& item) {
  const YamlMap map(
      item, {"stream", "wait_before", "issue_after", "when", "type", "bucket_elements", "bucket_elements_per_rank",
             "first_bucket_elements", "bucket_chunks", "host_sync", "decompose", "coalesce"});
  if (item.value().entries.empty()) item.fail("is empty", "what the rule does");
  RuleEffect effect;
  effect.stream = word(map, "stream",
                       {{"tensor", "tensor"},
                        {"gradient", "gradient"},
                        {"forward-send", "forward-send"},
                        {"forward-receive", "forward-receive"},
                        {"backward-send", "backward-send"},
                        {"backward-receive", "backward-receive"}});
  effect.wait_before = word(map, "wait_before", {{"next", "next"}, {"use", "use"}});
  effect.issue_after = word(map, "issue_after", {{"ready", "ready"}, {"backward", "backward"}});
  effect.when = word(map, "when", {{"all", "all"}, {"last", "last"}});
  if (auto type = map.get("type")) effect.type = type->data_type();
  constexpr double kMostElements = 1e15;
  if (auto size = map.get("bucket_elements")) effect.bucket_elements = size->number(1, kMostElements);
  if (auto size = map.get("bucket_elements_per_rank")) effect.bucket_elements_per_rank = size->number(0, kMostElements);
  if (auto size = map.get("first_bucket_elements")) effect.first_bucket_elements = size->number(1, kMostElements);
  effect.bucket_chunks = word(map, "bucket_chunks", {{"all", "all"}, {"first", "first"}});
  if (auto sync = map.get("host_sync")) effect.host_sync = sync->boolean();
  effect.decompose = word(map, "decompose", {{"scatter-gather", "scatter-gather"}});
  if (auto coalesce = map.get("coalesce")) effect.coalesce = coalesce->boolean();
  return effect;
}

Rule read_rule(const YamlItem& item) {
  const YamlMap map(item, {"match", "effect", "source"});
  Rule rule;
  rule.match = read_match(map.at("match"));
  rule.effect = read_effect(map.at("effect"));
  rule.source = map.text_or("source", "");
  rule.where = item.where();
  return rule;
}

/// A list in YAML replaces another; rules of the user come after those of the catalog instead.
YamlValue with_appended_rules(const YamlItem& item, const std::filesystem::path& catalog) {
  YamlValue value = resolve_named(item, catalog, "runtimes");
  const YamlValue* own = item.is_map() ? item.value().find("rules") : nullptr;
  const YamlValue* name = item.is_map() ? item.value().find("name") : nullptr;
  if (own == nullptr || name == nullptr || own->kind != YamlValue::Kind::sequence) return value;
  const YamlItem asked(*name, item.path() + ".name");
  YamlValue base = load_catalog_entry(catalog, "runtimes", asked.text(), asked);
  if (YamlValue* rules = base.find("rules"); rules != nullptr && rules->kind == YamlValue::Kind::sequence) {
    rules->items.insert(rules->items.end(), own->items.begin(), own->items.end());
    value.set("rules", *rules);
  }
  return value;
}

YamlValue text(const std::string& value) { return YamlValue::string(value); }
YamlValue number(double value) { return YamlValue::plain(number_text(value)); }
YamlValue flag(bool value) { return YamlValue::plain(value ? "true" : "false"); }

void set_if(YamlValue& map, const char* key, const std::optional<std::string>& value) {
  if (value) map.set(key, text(*value));
}

YamlValue rule_to_yaml(const Rule& rule) {
  YamlValue match = YamlValue::map();
  for (const auto& [name, role] : kRoles) {
    if (rule.match.role == role) match.set("role", text(std::string(name)));
  }
  set_if(match, "pass", rule.match.pass);
  set_if(match, "collective", rule.match.collective);
  set_if(match, "schedule", rule.match.schedule);
  const RuleEffect& e = rule.effect;
  YamlValue effect = YamlValue::map();
  set_if(effect, "stream", e.stream);
  set_if(effect, "wait_before", e.wait_before);
  set_if(effect, "issue_after", e.issue_after);
  set_if(effect, "when", e.when);
  if (e.type) effect.set("type", text(std::string(name_of(*e.type))));
  if (e.bucket_elements) effect.set("bucket_elements", number(*e.bucket_elements));
  if (e.bucket_elements_per_rank) effect.set("bucket_elements_per_rank", number(*e.bucket_elements_per_rank));
  if (e.first_bucket_elements) effect.set("first_bucket_elements", number(*e.first_bucket_elements));
  set_if(effect, "bucket_chunks", e.bucket_chunks);
  if (e.host_sync) effect.set("host_sync", flag(*e.host_sync));
  set_if(effect, "decompose", e.decompose);
  if (e.coalesce) effect.set("coalesce", flag(*e.coalesce));
  YamlValue map = YamlValue::map();
  map.set("match", match).set("effect", effect);
  if (!rule.source.empty()) map.set("source", text(rule.source));
  return map;
}

}  // namespace

namespace {

/// Programs hold the times of single launches in 32 bits.
Time host_time(const YamlItem& item) {
  const Time time = item.time();
  if (time > Time::microseconds(1000)) item.fail("is longer than a launch takes", "at most 1 ms");
  return time;
}

}  // namespace

Runtime read_runtime(const YamlItem& item, const std::filesystem::path& catalog) {
  const YamlValue value = with_appended_rules(item, catalog);
  const YamlMap map({value, item.path()},
                    with_description_keys(
                        {"mirrors", "gradient_type", "host_kernel", "host_collective", "optimizer_bytes_per_parameter",
                         "norm_bytes_per_parameter", "state_bytes_per_parameter", "vocab_multiple", "compute_slowdown",
                         "communication_slowdown", "context_bytes", "interleaved_all_forwards_first", "rules"}));
  constexpr double kMostBytes = 1000;
  Runtime runtime;
  runtime.name = map.text_or("label", "inline");
  runtime.mirrors = map.text_or("mirrors", "");
  runtime.source = map.text_or("source", "");
  runtime.gradient_type = map.at("gradient_type").data_type();
  runtime.host_kernel = host_time(map.at("host_kernel"));
  runtime.host_collective = host_time(map.at("host_collective"));
  runtime.optimizer_bytes_per_parameter = map.at("optimizer_bytes_per_parameter").number(0, kMostBytes);
  runtime.norm_bytes_per_parameter = map.at("norm_bytes_per_parameter").number(0, kMostBytes);
  runtime.state_bytes_per_parameter = map.at("state_bytes_per_parameter").number(0, kMostBytes);
  runtime.vocab_multiple = map.at("vocab_multiple").integer(1, std::int64_t{1} << 31);
  constexpr double kMostSlowdown = 100;
  runtime.compute_slowdown = map.at("compute_slowdown").number(0, kMostSlowdown);
  runtime.communication_slowdown = map.at("communication_slowdown").number(0, kMostSlowdown);
  runtime.context_bytes = map.at("context_bytes").bytes();
  if (auto all = map.get("interleaved_all_forwards_first")) runtime.interleaved_all_forwards_first = all->boolean();
  for (const YamlItem& rule : map.at("rules").sequence()) runtime.rules.push_back(read_rule(rule));
  return runtime;
}

YamlValue runtime_to_yaml(const Runtime& runtime) {
  YamlValue map = YamlValue::map();
  map.set("label", text(runtime.name));
  if (!runtime.mirrors.empty()) map.set("mirrors", text(runtime.mirrors));
  if (!runtime.source.empty()) map.set("source", text(runtime.source));
  map.set("gradient_type", text(std::string(name_of(runtime.gradient_type))));
  map.set("host_kernel", YamlValue::plain(quantity_text(runtime.host_kernel)));
  map.set("host_collective", YamlValue::plain(quantity_text(runtime.host_collective)));
  map.set("optimizer_bytes_per_parameter", number(runtime.optimizer_bytes_per_parameter));
  map.set("norm_bytes_per_parameter", number(runtime.norm_bytes_per_parameter));
  map.set("state_bytes_per_parameter", number(runtime.state_bytes_per_parameter));
  map.set("vocab_multiple", YamlValue::plain(std::to_string(runtime.vocab_multiple)));
  map.set("compute_slowdown", number(runtime.compute_slowdown));
  map.set("communication_slowdown", number(runtime.communication_slowdown));
  map.set("context_bytes", YamlValue::plain(quantity_text(runtime.context_bytes)));
  map.set("interleaved_all_forwards_first", flag(runtime.interleaved_all_forwards_first));
  YamlValue rules = YamlValue::sequence();
  for (const Rule& rule : runtime.rules) rules.items.push_back(rule_to_yaml(rule));
  map.set("rules", rules);
  return map;
}

}  // namespace proteus::io
