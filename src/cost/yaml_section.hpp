// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace proteus::cost {

/// A place in a catalogue file that knows its file and key, so that every complaint names them.
/// All members throw InputError where the text is not what was asked for.
class YamlSection {
 public:
  static YamlSection load(const std::filesystem::path& file);

  /// The value of a key that must be there.
  YamlSection at(std::string_view key) const;
  bool has(std::string_view key) const;
  /// The value of `key`, or of "default" where the key is missing.
  YamlSection at_or_default(std::string_view key) const;

  double number() const;
  double positive() const;
  int integer() const;
  bool boolean() const;
  std::string text() const;
  bool is(std::string_view word) const;
  std::vector<double> numbers() const;
  /// Exactly `count` numbers.
  std::vector<double> numbers(std::size_t count) const;
  std::vector<YamlSection> items() const;
  std::vector<std::string> keys() const;
  bool contains(std::string_view word) const;

  /// Rejects keys that nobody reads: a misspelt key must not act like a missing one.
  void only(std::initializer_list<std::string_view> allowed) const;

  [[noreturn]] void fail(const std::string& problem, const std::string& expected) const;

 private:
  YamlSection(std::string file, std::string path, const YAML::Node& node);

  std::string file_;
  std::string path_;
  YAML::Node node_;
};

}  // namespace proteus::cost
