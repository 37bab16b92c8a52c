// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "local_engine.hpp"

namespace proteus::engine {

/// Texts of all ranks, given those of the ranks of this process.
using GatherTexts = std::function<std::vector<std::string>(const std::vector<std::string>&)>;

/// Follows who waits for whom, from the first place that is stuck to a circle or to what never comes: lines for the
/// user, the same on every rank and for any partition; empty where no process knows of a place. Collective: each link
/// is asked of the rank that hosts it, so nobody holds more than the chain.
std::vector<std::string> wait_chain(std::span<const LocalEngine::Implementation* const> engines,
                                    const GatherTexts& gather);

}  // namespace proteus::engine
