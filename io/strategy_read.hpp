// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "proteus/strategy/runtime.hpp"
#include "proteus/strategy/strategy.hpp"
#include "yaml_read.hpp"

namespace proteus::io {

struct StrategySection {
  strategy::Strategy strategy;
  strategy::Runtime runtime;
};

/// Section `strategy:`, for a job of `devices` devices and a model of `layers` layers.
StrategySection read_strategy(const YamlItem& item, const std::filesystem::path& catalog, std::int64_t devices,
                              std::int64_t layers);

/// The list `tree:`.
std::vector<strategy::Annotation> read_tree(const YamlItem& item);

/// The section as strategy_to_yaml() prints it, with `runtime` in place of the runtime's name.
YamlValue strategy_section_to_yaml(const strategy::Strategy& strategy, YamlValue runtime);

}  // namespace proteus::io
