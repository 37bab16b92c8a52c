// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "proteus/base/time.hpp"

namespace proteus {

/// A size in bytes.
struct Bytes {
  std::int64_t value = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes other) const { return {value + other.value}; }
  constexpr Bytes operator-(Bytes other) const { return {value - other.value}; }
  constexpr Bytes& operator+=(Bytes other) { return *this = *this + other; }
  constexpr Bytes& operator-=(Bytes other) { return *this = *this - other; }
  constexpr Bytes operator*(std::int64_t factor) const { return {value * factor}; }
};

/// A transfer rate. 1 GB/s is 1e9 bytes per second, one direction.
struct BytesPerSecond {
  double value = 0;
  constexpr auto operator<=>(const BytesPerSecond&) const = default;
};

/// A compute rate, dense (no structured sparsity). One multiply-add counts as two operations.
struct FlopPerSecond {
  double value = 0;
  constexpr auto operator<=>(const FlopPerSecond&) const = default;
};

inline Time operator/(Bytes size, BytesPerSecond rate) {
  return Time::seconds(static_cast<double>(size.value) / rate.value);
}

}  // namespace proteus
