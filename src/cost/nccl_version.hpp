// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <compare>
#include <optional>
#include <string_view>

namespace proteus::cost {

/// "2.18" or "2.18.3-1": only the first two numbers matter here.
struct NcclVersion {
  int major_number = 0;
  int minor_number = 0;
  auto operator<=>(const NcclVersion&) const = default;

  static std::optional<NcclVersion> parse(std::string_view text) {
    NcclVersion version;
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, version.major_number);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, version.minor_number);
    if (second.ec != std::errc{}) return std::nullopt;
    if (second.ptr != end && *second.ptr != '.' && *second.ptr != '-') return std::nullopt;
    return version;
  }
};

}  // namespace proteus::cost
