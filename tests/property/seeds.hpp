// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace proteus::property {

/// Of the random experiments that are tested: 0 to 199, or FIRST:LAST (half open) of $PROTEUS_PROPERTY_SEEDS to search
/// further.
std::vector<std::uint64_t> seeds();

}  // namespace proteus::property
