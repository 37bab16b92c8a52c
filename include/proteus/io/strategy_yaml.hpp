// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "proteus/strategy/runtime.hpp"
#include "proteus/strategy/strategy.hpp"

namespace proteus::io {

/// The strategy as the section `strategy:` of an experiment file, written out without a preset (mesh, tree, stages,
/// schedule): what a preset makes can be edited and fed back. The runtime stands there by its name.
std::string strategy_to_yaml(const strategy::Strategy& strategy);

/// The same as JSON, with all rules of the runtime.
std::string strategy_to_json(const strategy::Strategy& strategy, const strategy::Runtime& runtime);

}  // namespace proteus::io
