// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proteus/base/error.hpp"

namespace proteus::io {

struct YamlEntry;

/// A parsed YAML document, where every node knows the file and line it came from. Parts of several files and of the
/// command line can be merged without losing that.
struct YamlValue {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  std::string text;     ///< of a scalar
  bool quoted = false;  ///< a scalar written in quotes is text, never a number
  SourceLocation where;
  std::vector<YamlValue> items;
  std::vector<YamlEntry> entries;

  static YamlValue plain(std::string text);   ///< number, boolean or name
  static YamlValue string(std::string text);  ///< text that is printed in quotes where YAML needs them
  static YamlValue sequence();
  static YamlValue map();

  const YamlEntry* entry(std::string_view key) const;
  const YamlValue* find(std::string_view key) const;
  YamlValue* find(std::string_view key);
  void remove(std::string_view key);
  /// Adds or replaces; returns *this for chains.
  YamlValue& set(std::string key, YamlValue value);
};

struct YamlEntry {
  std::string key;
  SourceLocation where;
  YamlValue value;
};

/// Makes of the name X of a catalog entry {name: X}, to which keys can be added.
void name_to_map(YamlValue& value);

/// `over` on top of `base`: maps key by key, everything else replaced whole. A map without `label` and `name` refines
/// the entry that a name in `base` stands for.
YamlValue merge(YamlValue base, const YamlValue& over);

/// As YAML text that parses to the same tree, with a newline at its end. Maps of the three outer levels take a line for
/// each key; what is deeper is written on one line.
std::string print_yaml(const YamlValue& value);
/// The same tree as JSON: plain numbers and booleans as such, other scalars as strings.
std::string print_json(const YamlValue& value);

/// `text` for a one-line message: control characters escaped, long text cut.
std::string printable(std::string_view text);
/// The same in backquotes.
std::string quoted_for_message(std::string_view text);

}  // namespace proteus::io
