// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "proteus/model/model.hpp"
#include "yaml_read.hpp"

namespace proteus::io {

/// Section `model:`: a catalog name, `file:` with a Hugging Face config.json (relative to `directory`), or a whole
/// description; other keys override.
model::Model read_model(const YamlItem& item, const std::filesystem::path& catalog,
                        const std::filesystem::path& directory);

/// The config.json that such a section names; empty where it names none.
std::filesystem::path model_file(const YamlItem& item, const std::filesystem::path& directory);

/// A whole description that read_model() takes without a catalog.
YamlValue model_to_yaml(const model::Model& model);

}  // namespace proteus::io
