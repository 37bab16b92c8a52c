// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "yaml_read.hpp"

namespace proteus::io {

/// One file of the catalog. `asked` is where the user wrote the name: an unknown name is an error there.
YamlValue load_catalog_entry(const std::filesystem::path& catalog, const std::string& section, const std::string& name,
                             const YamlItem& asked);

/// What stands for a thing that the catalog may hold: `NAME` or `{name: NAME, ...}` is the catalog's description with
/// the user's keys on top and `label: NAME`; a map without `name` is a whole description and is returned as it is.
YamlValue resolve_named(const YamlItem& item, const std::filesystem::path& catalog, const std::string& section);

/// `known` and the keys that any description may carry: description, source, confidence, basis, notes, label.
std::vector<std::string_view> with_description_keys(std::vector<std::string_view> known);

}  // namespace proteus::io
