// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "strategy_read.hpp"

namespace proteus::io {
namespace {

using strategy::Annotation;
using strategy::Recompute;

/// Mesh axes as "dp" or [dp, cp].
std::vector<std::string> read_axes(const YamlItem& item) {
  std::vector<std::string> axes = item.is_sequence() ? item.texts() : std::vector<std::string>{item.text()};
  std::vector<std::string> sorted = axes;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) item.fail("names an axis twice", "each axis once");
  return axes;
}

std::map<std::string, std::vector<std::string>> read_axes_by_name(const YamlItem& item) {
  std::map<std::string, std::vector<std::string>> result;
  for (const auto& [name, axes] : item.entries()) result[name] = read_axes(axes);
  return result;
}

Annotation read_annotation(const YamlItem& item) {
  const std::string form = "one selector with what holds for it, as \"layers.*\": {recompute: full}";
  if (!item.is_map() || item.value().entries.size() != 1) item.fail("is no annotation", form);
  const auto entries = item.entries();
  const YamlItem& body = entries.front().second;
  const YamlMap map(body, {"split", "store", "recompute", "implementation"});
  if (body.value().entries.empty()) body.fail("is empty", form);
  Annotation annotation;
  annotation.selector = entries.front().first;
  annotation.where = item.value().entries.front().where;
  if (annotation.selector.empty()) item.fail("has an empty selector", form);
  if (auto split = map.get("split")) annotation.split = read_axes_by_name(*split);
  if (auto store = map.get("store")) {
    const YamlMap known(*store, {"weight", "gradient", "optimizer", "saved"});
    annotation.store = read_axes_by_name(*store);
  }
  if (auto recompute = map.get("recompute")) {
    annotation.recompute = recompute->choice<Recompute>(
        {{"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}});
  }
  if (auto implementation = map.get("implementation")) annotation.implementation = implementation->text();
  return annotation;
}

}  // namespace

std::vector<Annotation> read_tree(const YamlItem& item) {
  std::vector<Annotation> tree;
  for (const YamlItem& entry : item.sequence()) tree.push_back(read_annotation(entry));
  return tree;
}

}  // namespace proteus::io
