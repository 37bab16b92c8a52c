// SPDX-License-Identifier: Apache-2.0
#include "proteus/base/hash.hpp"

#include <fmt/format.h>

namespace proteus {

std::string StateHash::to_string() const { return fmt::format("{:016x}{:016x}", high, low); }

}  // namespace proteus
