// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "prints.hpp"
#include "proteus/io/strategy_yaml.hpp"

namespace proteus::cli {
namespace {

/// The other half of what places collectives, as comments, so that the text can still be fed back.
std::string rules_text(const strategy::Runtime& runtime) {
  std::string text =
      fmt::format("# runtime rules of {} ({}); later ones win, field by field:\n", runtime.name, runtime.mirrors);
  for (const strategy::Rule& rule : runtime.rules) {
    const strategy::RuleMatch& m = rule.match;
    const strategy::RuleEffect& e = rule.effect;
    std::vector<std::string> match, effect;
    const auto add = [](std::vector<std::string>& list, const char* key, const auto& value) {
      if (value) list.push_back(fmt::format("{}: {}", key, *value));
    };
    if (m.role) match.push_back(fmt::format("role: {}", strategy::name_of(*m.role)));
    add(match, "pass", m.pass);
    add(match, "collective", m.collective);
    add(match, "schedule", m.schedule);
    add(effect, "stream", e.stream);
    add(effect, "wait_before", e.wait_before);
    add(effect, "issue_after", e.issue_after);
    add(effect, "when", e.when);
    if (e.type) effect.push_back(fmt::format("type: {}", name_of(*e.type)));
    add(effect, "bucket_elements", e.bucket_elements);
    add(effect, "bucket_elements_per_rank", e.bucket_elements_per_rank);
    add(effect, "host_sync", e.host_sync);
    add(effect, "decompose", e.decompose);
    add(effect, "coalesce", e.coalesce);
    text += fmt::format("#   {{{}}} -> {{{}}}\n", fmt::join(match, ", "), fmt::join(effect, ", "));
  }
  return text;
}

}  // namespace

std::string print_tree(const PreparedJob& prepared, PrintFormat format) {
  const io::Experiment& e = prepared.experiment;
  return format == PrintFormat::json ? io::strategy_to_json(e.strategy, e.runtime)
                                     : io::strategy_to_yaml(e.strategy) + rules_text(e.runtime);
}

}  // namespace proteus::cli
