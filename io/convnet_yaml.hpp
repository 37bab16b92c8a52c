// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proteus/model/convnet.hpp"
#include "yaml_read.hpp"

namespace proteus::io {

/// A `model:` of family `convnet`.
model::ConvNetConfig read_convnet(const YamlItem& item);

/// Its keys, without those that describe any model.
YamlValue convnet_to_yaml(const model::ConvNetConfig& config);

}  // namespace proteus::io
