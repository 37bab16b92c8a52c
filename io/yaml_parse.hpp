// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "yaml_value.hpp"

namespace proteus::io {

/// Parses one YAML or JSON document. `name` stands in error messages. Throws InputError: syntax, duplicate keys (which
/// YAML parsers accept in silence), keys that are no plain text, tags, several documents, aliases that blow up.
YamlValue parse_yaml(const std::string& text, const std::string& name);

/// The same for a file. Throws InputError also where it cannot be read.
YamlValue parse_yaml_file(const std::filesystem::path& file);

/// Applies one "path.to.key=value" of the command line; the value is YAML. Maps on the way are made where missing.
void apply_override(YamlValue& root, const std::string& text);

}  // namespace proteus::io
