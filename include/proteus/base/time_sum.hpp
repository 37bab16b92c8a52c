// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>

#include "proteus/base/time.hpp"

namespace proteus {

/// Times of many devices, added up: a thousand GPUs of one slow iteration go beyond what Time counts. Exact, so that no
/// order of adding shows.
class TimeSum {
 public:
  constexpr TimeSum() = default;
  constexpr TimeSum(Time time) : ps_(time.ps()) {}  // NOLINT(google-explicit-constructor): every time is a sum of one

  static constexpr TimeSum from_words(std::int64_t high, std::int64_t low) {
    return TimeSum{static_cast<Wide>((static_cast<Unsigned>(high) << 64U) | static_cast<std::uint64_t>(low))};
  }
  constexpr std::int64_t high() const { return static_cast<std::int64_t>(ps_ >> 64U); }
  constexpr std::int64_t low() const { return static_cast<std::int64_t>(static_cast<std::uint64_t>(ps_)); }

  /// Throws std::overflow_error where 64 bits do not hold it.
  constexpr std::int64_t ps() const {
    if (high() != (low() < 0 ? -1 : 0)) throw std::overflow_error("a sum of times beyond 64 bits");
    return low();
  }
  constexpr double to_seconds() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr auto operator<=>(const TimeSum&) const = default;
  constexpr TimeSum operator+(TimeSum other) const { return TimeSum{ps_ + other.ps_}; }
  constexpr TimeSum operator-(TimeSum other) const { return TimeSum{ps_ - other.ps_}; }
  constexpr TimeSum operator*(std::int64_t factor) const { return TimeSum{ps_ * factor}; }
  constexpr TimeSum& operator+=(TimeSum other) { return *this = *this + other; }
  constexpr TimeSum& operator-=(TimeSum other) { return *this = *this - other; }

 private:
  __extension__ using Wide = __int128;
  __extension__ using Unsigned = unsigned __int128;
  explicit constexpr TimeSum(Wide ps) : ps_(ps) {}
  Wide ps_ = 0;
};

}  // namespace proteus
