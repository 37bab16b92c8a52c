// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace proteus {

/// Simulated time, or a difference of two: a whole number of picoseconds. Nothing that decides an order of
/// events is floating point; a 64-bit count lasts 106 days.
class Time {
 public:
  constexpr Time() = default;

  static constexpr Time picoseconds(std::int64_t count) { return Time{count}; }
  static constexpr Time zero() { return Time{0}; }
  static constexpr Time infinity() { return Time{std::numeric_limits<std::int64_t>::max()}; }

  /// Round to the nearest picosecond; infinity from half of what is counted, so that two can be added. Use them on
  /// differences of time, once per result.
  static Time seconds(double value) { return rounded(value * 1e12); }
  static Time microseconds(double value) { return rounded(value * 1e6); }

  constexpr std::int64_t ps() const { return ps_; }
  constexpr double to_seconds() const { return static_cast<double>(ps_) * 1e-12; }
  constexpr bool is_infinite() const { return ps_ == std::numeric_limits<std::int64_t>::max(); }

  constexpr auto operator<=>(const Time&) const = default;

  /// Infinity absorbs whatever is added to it.
  constexpr Time operator+(Time other) const {
    return is_infinite() || other.is_infinite() ? infinity() : Time{ps_ + other.ps_};
  }
  constexpr Time operator-(Time other) const { return is_infinite() ? infinity() : Time{ps_ - other.ps_}; }
  constexpr Time& operator+=(Time other) { return *this = *this + other; }
  constexpr Time& operator-=(Time other) { return *this = *this - other; }

 private:
  explicit constexpr Time(std::int64_t ps) : ps_(ps) {}
  static Time rounded(double ps) { return ps < 4.6e18 ? Time{std::llround(ps)} : infinity(); }

  std::int64_t ps_ = 0;
};

}  // namespace proteus
