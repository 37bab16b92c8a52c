// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proteus/base/time.hpp"

namespace proteus::engine {

/// Counts, beside the run, the windows that it would need if every rank promised exactly what it then does: the bound
/// after b is the earliest arrival of any message between ranks that an event at b or later sends. No valid promises
/// need fewer windows.
///
/// Of the messages of this rank only those are kept that can still decide a bound: later ones that arrive earlier hide
/// the others. Bounds are agreed on while the run goes on, so what lies before them is dropped.
class PerfectWindows {
 public:
  /// An event at `sent` sends a message that leaves the rank and arrives at `arrival`. `sent` never decreases.
  void crossed(Time sent, Time arrival) {
    if (sent < bound_) return;
    while (crossings_.size() > first_ && crossings_.back().arrival >= arrival) crossings_.pop_back();
    if (crossings_.size() > first_ && crossings_.back().sent == sent) return;  // hidden by one of the same event time
    crossings_.push_back({sent, arrival});
  }

  /// Earliest arrival among the messages of this rank sent at the current bound or later; infinity where there is none.
  Time next() const { return crossings_.size() > first_ ? crossings_[first_].arrival : Time::infinity(); }

  /// The next bound: the smallest next() over all ranks, when no message still to be sent can arrive before it.
  void advance(Time bound) {
    bound_ = bound;
    ++bounds_;
    while (first_ < crossings_.size() && crossings_[first_].sent < bound_) ++first_;
    if (2 * first_ < crossings_.size()) return;
    crossings_.erase(crossings_.begin(), crossings_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  /// One ends at each bound, and one at the end of the run.
  std::uint64_t windows() const { return bounds_ + 1; }

 private:
  struct Crossing {
    Time sent;
    Time arrival;
  };

  std::vector<Crossing> crossings_;  ///< both times strictly ascending from first_ on
  std::size_t first_ = 0;
  Time bound_ = Time::zero();
  std::uint64_t bounds_ = 0;
};

}  // namespace proteus::engine
