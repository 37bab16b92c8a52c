// SPDX-License-Identifier: Apache-2.0
#include "yaml_value.hpp"

#include <algorithm>
#include <cctype>

namespace proteus::io {

YamlValue YamlValue::plain(std::string text) {
  YamlValue value;
  value.kind = Kind::scalar;
  value.text = std::move(text);
  return value;
}

YamlValue YamlValue::string(std::string text) {
  YamlValue value = plain(std::move(text));
  value.quoted = true;
  return value;
}

YamlValue YamlValue::sequence() {
  YamlValue value;
  value.kind = Kind::sequence;
  return value;
}

YamlValue YamlValue::map() {
  YamlValue value;
  value.kind = Kind::map;
  return value;
}

const YamlEntry* YamlValue::entry(std::string_view key) const {
  auto found = std::ranges::find(entries, key, &YamlEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

const YamlValue* YamlValue::find(std::string_view key) const {
  const YamlEntry* found = entry(key);
  return found ? &found->value : nullptr;
}

YamlValue* YamlValue::find(std::string_view key) {
  auto found = std::ranges::find(entries, key, &YamlEntry::key);
  return found == entries.end() ? nullptr : &found->value;
}

void YamlValue::remove(std::string_view key) {
  std::erase_if(entries, [&](const YamlEntry& entry) { return entry.key == key; });
}

YamlValue& YamlValue::set(std::string key, YamlValue value) {
  if (YamlValue* old = find(key)) {
    *old = std::move(value);
  } else {
    SourceLocation location = value.where;
    entries.push_back({std::move(key), std::move(location), std::move(value)});
  }
  return *this;
}

void name_to_map(YamlValue& value) {
  YamlValue map = YamlValue::map();
  map.where = value.where;
  map.set("name", std::move(value));
  value = std::move(map);
}

YamlValue merge(YamlValue base, const YamlValue& over) {
  // What has a label or a name of its own describes another thing.
  const bool refines = over.kind == YamlValue::Kind::map && !over.find("label") && !over.find("name");
  if (base.kind == YamlValue::Kind::scalar && refines) name_to_map(base);
  if (base.kind != YamlValue::Kind::map || over.kind != YamlValue::Kind::map) return over;
  base.where = over.where;
  for (const YamlEntry& entry : over.entries) {
    auto old = std::ranges::find(base.entries, entry.key, &YamlEntry::key);
    if (old == base.entries.end()) {
      base.entries.push_back(entry);
    } else {
      old->where = entry.where;
      old->value = merge(std::move(old->value), entry.value);
    }
  }
  return base;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out;
  for (char c : text.substr(0, kLongest)) {
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += '?';
    } else {
      out += c;
    }
  }
  if (text.size() > kLongest) out += "...";
  return out;
}

std::string quoted_for_message(std::string_view text) { return "`" + printable(text) + "`"; }

namespace {

bool needs_quotes(const std::string& text) {
  if (text.empty()) return true;
  constexpr std::string_view kSafeMarks = "_./+-() =;";
  const auto safe = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kSafeMarks.find(c) != std::string_view::npos;
  };
  // Anything that starts otherwise may be a number, a list item, a boolean or null to some YAML reader.
  if (std::isalpha(static_cast<unsigned char>(text.front())) == 0 || text.back() == ' ') return true;
  if (!std::ranges::all_of(text, safe)) return true;
  std::string lower;
  for (char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::vector<std::string_view> words = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  return std::ranges::find(words, lower) != words.end();
}

std::string escaped(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string scalar(const std::string& text, bool quoted) { return quoted && needs_quotes(text) ? escaped(text) : text; }

std::string flow(const YamlValue& value) {
  std::string out;
  switch (value.kind) {
    case YamlValue::Kind::null:
      return "null";
    case YamlValue::Kind::scalar:
      return scalar(value.text, value.quoted);
    case YamlValue::Kind::sequence:
      for (const YamlValue& item : value.items) out += (out.empty() ? "" : ", ") + flow(item);
      return "[" + out + "]";
    case YamlValue::Kind::map:
      for (const YamlEntry& entry : value.entries) {
        out += (out.empty() ? "" : ", ") + scalar(entry.key, true) + ": " + flow(entry.value);
      }
      return "{" + out + "}";
  }
  return out;
}

void block(const YamlValue& value, int indent, int levels, std::string& out) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  for (const YamlEntry& entry : value.entries) {
    out += margin + scalar(entry.key, true) + ":";
    const bool map = entry.value.kind == YamlValue::Kind::map && !entry.value.entries.empty();
    const bool maps = entry.value.kind == YamlValue::Kind::sequence && !entry.value.items.empty() &&
                      entry.value.items.front().kind == YamlValue::Kind::map;
    if (map && levels > 1) {
      out += "\n";
      block(entry.value, indent + 2, levels - 1, out);
    } else if (maps) {
      out += "\n";
      for (const YamlValue& item : entry.value.items) out += margin + "  - " + flow(item) + "\n";
    } else {
      out += " " + flow(entry.value) + "\n";
    }
  }
}

}  // namespace

std::string print_yaml(const YamlValue& value) {
  if (value.kind != YamlValue::Kind::map || value.entries.empty()) return flow(value) + "\n";
  std::string out;
  block(value, 0, 3, out);
  return out;
}

}  // namespace proteus::io
