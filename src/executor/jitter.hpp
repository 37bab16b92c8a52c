// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "proteus/base/hash.hpp"

namespace proteus::executor {

/// Factors on compute durations: a function of (seed, device, position) alone, so that no order of simulation and no
/// partition moves them. Bell-shaped with the given relative standard deviation, and bounded, because promises
/// rest on the lower bound.
class Jitter {
 public:
  Jitter(std::uint64_t seed, double sigma)
      : seed_(mix64(seed + 0x9e3779b97f4a7c15ULL)),
        sigma_(sigma),
        slope_(sigma / standard_deviation),
        lowest_(std::max(0.5, 1 - 3 * sigma)),
        highest_(1 + 3 * sigma) {}

  bool active() const { return sigma_ > 0; }
  double lowest() const { return lowest_; }

  /// Longer or shorter, rounded up to a picosecond, so that a sum is never below the sum of lowest() times durations.
  std::int64_t apply(std::int64_t duration_ps, std::int64_t device, std::int64_t position) const {
    std::uint64_t word = mix64(seed_ ^ mix64(static_cast<std::uint64_t>(device) * 0x9e3779b97f4a7c15ULL +
                                             static_cast<std::uint64_t>(position)));
    // Eight uniform 16-bit numbers (Irwin-Hall). No call into libm, whose last bits differ between systems.
    std::uint64_t sum = 0;
    for (std::uint64_t bits : {word, mix64(word + 0x9e3779b97f4a7c15ULL)}) {
      for (int part = 0; part < 4; ++part) sum += (bits >> (16 * part)) & 0xffff;
    }
    double factor = 1 + slope_ * static_cast<double>(static_cast<std::int64_t>(sum) - mean_sum);
    double length = static_cast<double>(duration_ps) * std::min(highest_, std::max(lowest_, factor));
    auto whole = static_cast<std::int64_t>(length);
    return static_cast<double>(whole) < length ? whole + 1 : whole;
  }

 private:
  static constexpr std::int64_t range = 65535;
  static constexpr std::int64_t mean_sum = 4 * range;
  static constexpr double standard_deviation = 0.816496580927726 * range;  // sqrt(8 / 12) of the range

  std::uint64_t seed_;
  double sigma_;
  double slope_;
  double lowest_;
  double highest_;
};

}  // namespace proteus::executor
