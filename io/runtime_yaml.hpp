// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "proteus/strategy/runtime.hpp"
#include "yaml_read.hpp"

namespace proteus::io {

/// `strategy.runtime`: a catalog name, `{name: NAME, rules: [...]}` whose rules come after the catalog's, or a whole
/// description.
strategy::Runtime read_runtime(const YamlItem& item, const std::filesystem::path& catalog);

/// A whole description that read_runtime() takes without a catalog.
YamlValue runtime_to_yaml(const strategy::Runtime& runtime);

}  // namespace proteus::io
