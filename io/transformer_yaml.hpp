// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proteus/model/transformer.hpp"
#include "yaml_read.hpp"

namespace proteus::io {

/// A `model:` of family `transformer`.
model::TransformerConfig read_transformer(const YamlItem& item);

/// Its keys, without those that describe any model.
YamlValue transformer_to_yaml(const model::TransformerConfig& config);

}  // namespace proteus::io
