// SPDX-License-Identifier: Apache-2.0
#include "yaml_parse.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace proteus::io {
namespace {

// Aliases let a few lines of YAML stand for more nodes than fit in memory.
constexpr std::size_t kMostNodes = 1000000;
constexpr int kDeepest = 100;
constexpr std::uintmax_t kLargestFile = std::uintmax_t{64} << 20;

class Converter {
 public:
  explicit Converter(const std::string& name) : name_(name) {}

  YamlValue convert(const YAML::Node& node, const std::string& path, const SourceLocation& key_where, int depth) {
    SourceLocation where = location(node.Mark());
    if (++nodes_ > kMostNodes) throw InputError(where, path, "the document is too large", "at most a million values");
    if (depth > kDeepest) throw InputError(where, printable(path), "nested too deeply", "at most 100 levels");
    YamlValue value;
    value.where = where;
    // yaml-cpp places an empty value at the token that follows it.
    if (node.IsNull() && key_where.line > 0) value.where = key_where;
    if (node.IsScalar()) {
      value.kind = YamlValue::Kind::scalar;
      value.text = node.Scalar();
      value.quoted = node.Tag() == "!";
    } else if (node.IsSequence()) {
      value.kind = YamlValue::Kind::sequence;
      for (const YAML::Node& item : node) {
        value.items.push_back(convert(item, path + "[" + std::to_string(value.items.size()) + "]", {}, depth + 1));
      }
    } else if (node.IsMap()) {
      value.kind = YamlValue::Kind::map;
      for (const auto& pair : node) add_entry(value, pair.first, pair.second, path, depth);
    }
    const std::string& tag = node.Tag();
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw InputError(where, path, "tag " + quoted_for_message(tag) + " is not supported", "a plain value");
    }
    return value;
  }

 private:
  void add_entry(YamlValue& map, const YAML::Node& key, const YAML::Node& value, const std::string& path, int depth) {
    SourceLocation where = location(key.Mark());
    if (!key.IsScalar()) throw InputError(where, path, "a key is not text", "a name as key");
    const std::string& name = key.Scalar();
    const std::string inner = path.empty() ? printable(name) : path + "." + printable(name);
    if (const YamlEntry* first = map.entry(name)) {
      throw InputError(where, inner, "duplicate key; the first stands in line " + std::to_string(first->where.line),
                       "each key once");
    }
    map.entries.push_back({name, where, convert(value, inner, where, depth + 1)});
  }

  SourceLocation location(const YAML::Mark& mark) const {
    return mark.is_null() ? SourceLocation{name_, 0, 0} : SourceLocation{name_, mark.line + 1, mark.column + 1};
  }

  std::string name_;
  std::size_t nodes_ = 0;
};

std::vector<std::string> split_path(const std::string& path, const std::string& whole) {
  std::vector<std::string> keys;
  std::stringstream stream(path);
  for (std::string key; std::getline(stream, key, '.');) keys.push_back(key);
  const bool empty = path.empty() || path.back() == '.' ||
                     std::ranges::any_of(keys, [](const std::string& key) { return key.empty(); });
  const SourceLocation where{"--set", 0, 0};
  const std::string shown = printable(path);
  if (empty) throw InputError(where, shown, "not a key in " + quoted_for_message(whole), "path.to.key=value");
  for (const std::string& key : keys) {
    const bool number = std::ranges::all_of(key, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number || key.find('[') != std::string::npos) {
      throw InputError(where, shown, "list items cannot be set one by one", "the whole list, as key=[...]");
    }
  }
  return keys;
}

void set_location(YamlValue& value, const SourceLocation& where) {
  value.where = where;
  for (YamlValue& item : value.items) set_location(item, where);
  for (YamlEntry& entry : value.entries) {
    entry.where = where;
    set_location(entry.value, where);
  }
}

}  // namespace

YamlValue parse_yaml(const std::string& text, const std::string& name) {
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty()) return {};
    if (documents.size() > 1) {
      const YAML::Mark mark = documents[1].Mark();
      throw InputError({name, mark.line + 1, mark.column + 1}, "", "a second document starts here", "one document");
    }
    return Converter(name).convert(documents.front(), "", {}, 0);
  } catch (const YAML::Exception& error) {
    SourceLocation where{name, error.mark.is_null() ? 0 : error.mark.line + 1,
                         error.mark.is_null() ? 0 : error.mark.column + 1};
    throw InputError(where, "", "not valid YAML: " + error.msg, "YAML or JSON");
  }
}

YamlValue parse_yaml_file(const std::filesystem::path& file) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(file, failed);
  if (failed) throw InputError({file.string(), 0, 0}, "", "cannot be read: " + failed.message(), "a YAML file");
  if (size > kLargestFile) throw InputError({file.string(), 0, 0}, "", "is larger than 64 MiB", "a YAML file");
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  errno = 0;
  if (stream) text << stream.rdbuf();
  if (!stream) {
    throw InputError({file.string(), 0, 0}, "", std::string("cannot be read: ") + std::strerror(errno), "a YAML file");
  }
  return parse_yaml(text.str(), file.string());
}

void apply_override(YamlValue& root, const std::string& text) {
  const SourceLocation where{"--set", 0, 0};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw InputError(where, "", "no `=` in " + quoted_for_message(text), "path.to.key=value");
  }
  const std::string path = text.substr(0, equals);
  const std::vector<std::string> keys = split_path(path, text);
  YamlValue value;
  try {
    value = parse_yaml(text.substr(equals + 1), "--set");
  } catch (const InputError& error) {
    const std::string shown = quoted_for_message(text.substr(equals + 1));
    throw InputError(where, printable(path), "the value is not valid YAML: " + shown, "YAML, as in path.to.key=value");
  }
  set_location(value, where);
  // Of these an experiment may give the name alone, and still have single values of it set.
  constexpr std::array<std::string_view, 5> kNamed{"model", "cluster", "node", "gpu", "runtime"};
  YamlValue* place = &root;
  std::string walked;
  std::string last;
  for (const std::string& key : keys) {
    if (place->kind == YamlValue::Kind::scalar && std::ranges::find(kNamed, last) != kNamed.end()) name_to_map(*place);
    if (place->kind == YamlValue::Kind::null) {
      place->kind = YamlValue::Kind::map;
      place->where = where;
    }
    if (place->kind != YamlValue::Kind::map) {
      throw InputError(where, printable(path), quoted_for_message(walked) + " is not a map", "a map to set a key of");
    }
    YamlValue* next = place->find(key);
    if (next == nullptr) {
      place->entries.push_back({key, where, {}});
      next = &place->entries.back().value;
    }
    place = next;
    walked += (walked.empty() ? "" : ".") + key;
    last = key;
  }
  *place = std::move(value);
}

}  // namespace proteus::io
