// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "yaml_value.hpp"

namespace proteus::io {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::null:
      return nullptr;
    case YamlValue::Kind::scalar: {
      // Plain numbers and booleans are spelled alike in both.
      Json plain = value.quoted ? Json() : Json::parse(value.text, nullptr, false);
      return plain.is_number() || plain.is_boolean() ? plain : Json(value.text);
    }
    case YamlValue::Kind::sequence: {
      Json list = Json::array();
      for (const YamlValue& item : value.items) list.push_back(to_json(item));
      return list;
    }
    case YamlValue::Kind::map: {
      Json map = Json::object();
      for (const YamlEntry& entry : value.entries) map[entry.key] = to_json(entry.value);
      return map;
    }
  }
  return nullptr;
}

}  // namespace

std::string print_json(const YamlValue& value) { return to_json(value).dump(1) + "\n"; }

}  // namespace proteus::io
