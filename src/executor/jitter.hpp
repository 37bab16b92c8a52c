// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
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
        lowest_(std::fmax(0.5, 1 - 3 * sigma)),
        highest_(1 + 3 * sigma) {}

  bool active() const { return sigma_ > 0; }
  double lowest() const { return lowest_; }

  /// Longer or shorter, rounded up to a picosecond, so that a sum is never below the sum of lowest() times durations.
  std::int64_t apply(std::int64_t duration_ps, std::int64_t device, std::int64_t position) const {
    std::uint64_t word = mix64(seed_ ^ mix64(static_cast<std::uint64_t>(device) * 0x9e3779b97f4a7c15ULL +
                                             static_cast<std::uint64_t>(position)));
    // Eight uniform 16-bit numbers (Irwin-Hall): mean 4 and variance 8/12 in units of their range. No call into libm,
    // whose last bits differ between systems.
    std::uint64_t sum = 0;
    for (std::uint64_t bits : {word, mix64(word + 0x9e3779b97f4a7c15ULL)}) {
      for (int part = 0; part < 4; ++part) sum += (bits >> (16 * part)) & 0xffff;
    }
    constexpr double standard_deviation = 0.816496580927726;  // sqrt(8 / 12)
    double normal = (static_cast<double>(sum) / 65535.0 - 4) / standard_deviation;
    double factor = std::fmin(highest_, std::fmax(lowest_, 1 + sigma_ * normal));
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(duration_ps) * factor));
  }

 private:
  std::uint64_t seed_;
  double sigma_;
  double lowest_;
  double highest_;
};

}  // namespace proteus::executor
