// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "proteus/base/time.hpp"

namespace proteus::engine {

/// Exact to the picosecond: error texts must tell apart times that a double would not.
inline std::string text_of(Time time) {
  if (time.is_infinite()) return "infinity";
  constexpr std::int64_t kSecond = 1'000'000'000'000;
  const char* sign = time.ps() < 0 ? "-" : "";
  auto magnitude = time.ps() < 0 ? -static_cast<std::uint64_t>(time.ps()) : static_cast<std::uint64_t>(time.ps());
  return fmt::format("{}{}.{:012} s", sign, magnitude / kSecond, magnitude % kSecond);
}

}  // namespace proteus::engine
