// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proteus/base/data_type.hpp"
#include "proteus/base/quantity.hpp"
#include "yaml_value.hpp"

namespace proteus::io {

/// A value with the key path that leads to it. Every read checks type and range and throws InputError with file, line,
/// key, problem and what was expected.
class YamlItem {
 public:
  YamlItem(const YamlValue& value, std::string path) : value_(&value), path_(std::move(path)) {}

  const YamlValue& value() const { return *value_; }
  const std::string& path() const { return path_; }
  const SourceLocation& where() const { return value_->where; }
  bool is_map() const { return value_->kind == YamlValue::Kind::map; }
  bool is_sequence() const { return value_->kind == YamlValue::Kind::sequence; }
  bool is_scalar() const { return value_->kind == YamlValue::Kind::scalar; }

  std::string text() const;
  bool boolean() const;
  std::int64_t integer(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  /// As integer(), for fields of type int.
  int small_integer(int least, int most = std::numeric_limits<int>::max()) const;
  double number(double least, double most) const;
  Time time() const;
  Bytes bytes() const;
  /// More than zero.
  BytesPerSecond bandwidth() const;
  FlopPerSecond flops() const;
  DataType data_type() const;

  /// One of the named values.
  template <class T>
  T choice(std::span<const std::pair<std::string_view, T>> choices) const {
    std::vector<std::string_view> names;
    for (const auto& [name, result] : choices) names.push_back(name);
    return choices[choice_index(names)].second;
  }
  template <class T>
  T choice(std::initializer_list<std::pair<std::string_view, T>> choices) const {
    return choice(std::span<const std::pair<std::string_view, T>>(choices.begin(), choices.size()));
  }

  std::vector<YamlItem> sequence() const;
  std::vector<std::string> texts() const;
  /// Keys and values of a map whose keys are names the user chose.
  std::vector<std::pair<std::string, YamlItem>> entries() const;

  [[noreturn]] void fail(const std::string& problem, const std::string& expected) const;

 private:
  const std::string& scalar(const std::string& expected) const;
  std::size_t choice_index(const std::vector<std::string_view>& names) const;
  template <class T>
  T quantity(const std::string& expected) const;

  const YamlValue* value_;
  std::string path_;
};

/// A map whose keys are all known. The constructor throws InputError at the first unknown key, with the nearest known.
class YamlMap {
 public:
  YamlMap(const YamlItem& item, std::vector<std::string_view> known);

  /// The item of a required key.
  YamlItem at(std::string_view key) const;
  /// Nothing where the key is absent; a null value is an error of whatever reads it.
  std::optional<YamlItem> get(std::string_view key) const;
  bool has(std::string_view key) const { return item_.value().entry(key) != nullptr; }
  const YamlItem& item() const { return item_; }
  std::string text_or(std::string_view key, const std::string& fallback) const;
  [[noreturn]] void fail(std::string_view key, const std::string& problem, const std::string& expected) const;

 private:
  std::string path_of(std::string_view key) const;
  std::string keys_given() const;  ///< for messages

  YamlItem item_;
  std::vector<std::string_view> known_;
};

/// The name in `names` that `text` most likely was meant to be; empty where none is near.
std::string nearest(std::string_view text, const std::vector<std::string_view>& names);

/// "a, b or c" for messages.
std::string one_of(const std::vector<std::string_view>& names);

}  // namespace proteus::io
