// SPDX-License-Identifier: Apache-2.0
#include "yaml_read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "units.hpp"

namespace proteus::io {
namespace {

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours count one each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::string described(const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::null:
      return "nothing";
    case YamlValue::Kind::scalar:
      return (value.quoted ? "the text " : "") + quoted_for_message(value.text);
    case YamlValue::Kind::sequence:
      return "a list";
    case YamlValue::Kind::map:
      return "a map";
  }
  return "";
}

template <class T>
std::string range_text(T least, T most) {
  if (most == std::numeric_limits<T>::max()) return fmt::format("at least {}", least);
  return fmt::format("{} to {}", least, most);
}

}  // namespace

std::string nearest(std::string_view text, const std::vector<std::string_view>& names) {
  std::string_view best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  if (text.size() > 64) return "";
  for (std::string_view name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return least <= std::max<std::size_t>(1, std::min(text.size(), best.size()) / 3) ? std::string(best) : "";
}

std::string one_of(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

void YamlItem::fail(const std::string& problem, const std::string& expected) const {
  throw InputError(value_->where, path_, problem, expected);
}

const std::string& YamlItem::scalar(const std::string& expected) const {
  if (!is_scalar()) fail("is " + described(*value_), expected);
  return value_->text;
}

std::string YamlItem::text() const {
  const std::string& result = scalar("text");
  if (result.empty()) fail("is empty", "text");
  return result;
}

bool YamlItem::boolean() const {
  const std::string& word = scalar("true or false");
  if (value_->quoted || (word != "true" && word != "false")) fail("is " + described(*value_), "true or false");
  return word == "true";
}

std::int64_t YamlItem::integer(std::int64_t least, std::int64_t most) const {
  const std::string expected = "a whole number, " + range_text(least, most);
  const std::string& word = scalar(expected);
  std::optional<std::int64_t> result = value_->quoted ? std::nullopt : integer_from(word);
  if (!result) fail("is " + described(*value_), expected);
  if (*result < least || *result > most) fail("out of range: " + quoted_for_message(word), expected);
  return *result;
}

int YamlItem::small_integer(int least, int most) const { return static_cast<int>(integer(least, most)); }

double YamlItem::number(double least, double most) const {
  const std::string expected = "a number, " + range_text(least, most);
  const std::string& word = scalar(expected);
  std::optional<double> result = value_->quoted ? std::nullopt : number_from(word);
  if (!result) fail("is " + described(*value_), expected);
  if (*result < least || *result > most) fail("out of range: " + quoted_for_message(word), expected);
  return *result;
}

template <class T>
T YamlItem::quantity(const std::string& expected) const {
  T result;
  QuantityProblem problem = parse_quantity(scalar(expected), result);
  if (problem) fail(problem.problem, problem.expected);
  return result;
}

Time YamlItem::time() const { return quantity<Time>("a time with its unit, as 3 us"); }
Bytes YamlItem::bytes() const { return quantity<Bytes>("a size with its unit, as 80 GiB"); }

BytesPerSecond YamlItem::bandwidth() const {
  const auto result = quantity<BytesPerSecond>("a bandwidth with its unit, as 25 GB/s");
  if (result.value <= 0) fail("out of range: " + described(*value_), "a bandwidth above 0");
  return result;
}

FlopPerSecond YamlItem::flops() const {
  const auto result = quantity<FlopPerSecond>("a compute rate with its unit, as 312 TFLOP/s");
  if (result.value <= 0) fail("out of range: " + described(*value_), "a compute rate above 0");
  return result;
}

DataType YamlItem::data_type() const {
  return choice<DataType>({{"fp32", DataType::fp32},
                           {"tf32", DataType::tf32},
                           {"bf16", DataType::bf16},
                           {"fp16", DataType::fp16},
                           {"fp8", DataType::fp8}});
}

std::size_t YamlItem::choice_index(const std::vector<std::string_view>& names) const {
  const std::string& word = scalar(one_of(names));
  auto found = std::ranges::find(names, std::string_view(word));
  if (found == names.end()) {
    const std::string near = nearest(word, names);
    fail("unknown value " + quoted_for_message(word) + (near.empty() ? "" : " (did you mean `" + near + "`?)"),
         one_of(names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<YamlItem> YamlItem::sequence() const {
  if (!is_sequence()) fail("is " + described(*value_), "a list");
  std::vector<YamlItem> result;
  for (const YamlValue& item : value_->items) {
    result.emplace_back(item, path_ + "[" + std::to_string(result.size()) + "]");
  }
  return result;
}

std::vector<std::string> YamlItem::texts() const {
  std::vector<std::string> result;
  for (const YamlItem& item : sequence()) result.push_back(item.text());
  return result;
}

std::vector<std::pair<std::string, YamlItem>> YamlItem::entries() const {
  if (!is_map()) fail("is " + described(*value_), "a map");
  std::vector<std::pair<std::string, YamlItem>> result;
  for (const YamlEntry& entry : value_->entries) {
    const std::string prefix = path_.empty() ? "" : path_ + ".";
    result.emplace_back(entry.key, YamlItem(entry.value, prefix + printable(entry.key)));
  }
  return result;
}

YamlMap::YamlMap(const YamlItem& item, std::vector<std::string_view> known) : item_(item), known_(std::move(known)) {
  if (!item.is_map()) item.fail("is " + described(item.value()), "a map with the keys " + one_of(known_));
  for (const YamlEntry& entry : item.value().entries) {
    if (std::ranges::find(known_, std::string_view(entry.key)) != known_.end()) continue;
    const std::string near = nearest(entry.key, known_);
    const std::string key = path_of(printable(entry.key));
    if (near.empty()) throw InputError(entry.where, key, "unknown key", "one of " + one_of(known_));
    throw InputError(entry.where, key, "unknown key (did you mean `" + near + "`?)", "");
  }
}

std::string YamlMap::keys_given() const {
  std::vector<std::string_view> keys;
  for (const YamlEntry& entry : item_.value().entries) keys.push_back(entry.key);
  return keys.empty() ? "no other key" : printable(fmt::format("{}", fmt::join(keys, ", ")));
}

YamlItem YamlMap::at(std::string_view key) const {
  std::optional<YamlItem> found = get(key);
  if (!found)
    throw InputError(item_.where(), path_of(key), "required key is missing",
                     "`" + std::string(key) + "` beside " + keys_given());
  return *found;
}

std::optional<YamlItem> YamlMap::get(std::string_view key) const {
  // A key that the reader did not declare could never be written by a user.
  if (std::ranges::find(known_, key) == known_.end()) throw std::logic_error("undeclared key " + std::string(key));
  const YamlValue* found = item_.value().find(key);
  if (found == nullptr) return std::nullopt;
  return YamlItem(*found, path_of(key));
}

std::string YamlMap::text_or(std::string_view key, const std::string& fallback) const {
  std::optional<YamlItem> found = get(key);
  return found ? found->text() : fallback;
}

void YamlMap::fail(std::string_view key, const std::string& problem, const std::string& expected) const {
  const YamlValue* value = item_.value().find(key);
  throw InputError(value != nullptr ? value->where : item_.where(), path_of(key), problem, expected);
}

std::string YamlMap::path_of(std::string_view key) const {
  return item_.path().empty() ? std::string(key) : item_.path() + "." + std::string(key);
}

}  // namespace proteus::io
