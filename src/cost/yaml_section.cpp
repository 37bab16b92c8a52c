// SPDX-License-Identifier: Apache-2.0
#include "yaml_section.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proteus/base/error.hpp"

namespace proteus::cost {

YamlSection::YamlSection(std::string file, std::string path, const YAML::Node& node)
    : file_(std::move(file)), path_(std::move(path)), node_(node) {}

YamlSection YamlSection::load(const std::filesystem::path& file) {
  try {
    return {file.string(), "", YAML::LoadFile(file.string())};
  } catch (const YAML::BadFile&) {
    throw InputError({file.string(), 0, 0}, "", "cannot be read", "a readable catalogue file");
  } catch (const YAML::ParserException& error) {
    throw InputError({file.string(), error.mark.line + 1, error.mark.column + 1}, "", error.msg, "valid YAML");
  }
}

void YamlSection::fail(const std::string& problem, const std::string& expected) const {
  throw InputError({file_, node_.Mark().line + 1, node_.Mark().column + 1}, path_, problem, expected);
}

bool YamlSection::has(std::string_view key) const { return node_.IsMap() && node_[std::string(key)].IsDefined(); }

YamlSection YamlSection::at(std::string_view key) const {
  if (!node_.IsMap()) fail("is not a map", "a map");
  const YAML::Node child = node_[std::string(key)];
  if (!child.IsDefined()) fail("lacks the key \"" + std::string(key) + "\"", "that key");
  return {file_, path_.empty() ? std::string(key) : path_ + "." + std::string(key), child};
}

YamlSection YamlSection::at_or_default(std::string_view key) const { return has(key) ? at(key) : at("default"); }

double YamlSection::number() const {
  double value = 0;
  if (!node_.IsScalar() || !YAML::convert<double>::decode(node_, value) || !std::isfinite(value)) {
    fail("is not a number", "a finite number");
  }
  return value;
}

double YamlSection::positive() const {
  const double value = number();
  if (value <= 0) fail("is not positive", "a number above 0");
  return value;
}

int YamlSection::integer() const {
  int value = 0;
  if (!node_.IsScalar() || !YAML::convert<int>::decode(node_, value)) fail("is not a whole number", "a whole number");
  return value;
}

bool YamlSection::boolean() const {
  bool value = false;
  if (!node_.IsScalar() || !YAML::convert<bool>::decode(node_, value)) fail("is not a truth value", "true or false");
  return value;
}

std::string YamlSection::text() const {
  if (!node_.IsScalar()) fail("is not a text", "a text");
  return node_.Scalar();
}

bool YamlSection::is(std::string_view word) const { return node_.IsScalar() && node_.Scalar() == word; }

std::vector<YamlSection> YamlSection::items() const {
  if (!node_.IsSequence()) fail("is not a list", "a list");
  std::vector<YamlSection> result;
  for (std::size_t i = 0; i < node_.size(); ++i) {
    std::string path = path_;
    path.append("[").append(std::to_string(i)).append("]");
    result.push_back({file_, path, node_[i]});
  }
  return result;
}

std::vector<double> YamlSection::numbers() const {
  std::vector<double> result;
  for (const YamlSection& item : items()) result.push_back(item.number());
  return result;
}

std::vector<double> YamlSection::numbers(std::size_t count) const {
  std::vector<double> result = numbers();
  if (result.size() != count) {
    fail("has " + std::to_string(result.size()) + " numbers", std::to_string(count) + " numbers");
  }
  return result;
}

std::vector<std::string> YamlSection::keys() const {
  if (!node_.IsMap()) fail("is not a map", "a map");
  std::vector<std::string> result;
  for (const auto& entry : node_) result.push_back(entry.first.Scalar());
  return result;
}

bool YamlSection::contains(std::string_view word) const {
  const std::vector<YamlSection> list = items();
  return std::any_of(list.begin(), list.end(), [&](const YamlSection& item) { return item.is(word); });
}

void YamlSection::only(std::initializer_list<std::string_view> allowed) const {
  for (const std::string& key : keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    std::string expected = "one of";
    for (std::string_view name : allowed) expected.append(" ").append(name);
    at(key).fail("is not a known key", expected);
  }
}

}  // namespace proteus::cost
