// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "causality.hpp"
#include "proteus/engine/event.hpp"

namespace proteus::engine {

/// Pending events of a monotone simulation, smallest first by the full order of Event.
///
/// Times are numbers of six-bit digits. An event lies in the bucket of the highest digit in which its time differs from
/// the base, and of the value that this digit has; so buckets of low digits come before those of high ones, and an
/// event moves once a digit (multi-level buckets: Denardo, Fox: Shortest-route methods, Operations Research 27(1),
/// 1979; with digits of one bit the radix heap of Ahuja, Mehlhorn, Orlin, Tarjan, J. ACM 37(2), 1990). A bucket with
/// few events is sorted whole, as the bottom of a ladder queue (Tang, Goh, Thng, ACM TOMACS 15(3), 2005).
class RadixHeap {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// The smallest event. Does not move the instant that push() is checked against. Not when empty.
  const Event& top() {
    if (run_.empty()) {
      if (!added_.empty()) return added_.front();
      open_next_run();
    }
    return added_.empty() || run_.back() < added_.front() ? run_.back() : added_.front();
  }

  /// Throws SimulationError if `event` comes before the last one popped: causality is broken.
  void push(const Event& event) {
    if (event < last_) refuse_late(event, last_);
    ++size_;
    if (static_cast<std::uint64_t>(event.time_ps) < run_end_) {
      add_to_run(event);
      return;
    }
    place(event);
  }

  /// Removes and returns top(). Not when empty.
  Event pop() {
    if (run_.empty() && added_.empty()) open_next_run();
    --size_;
    if (!run_.empty() && (added_.empty() || run_.back() < added_.front())) {
      last_ = run_.back();
      run_.pop_back();
    } else {
      take_added();
    }
    return last_;
  }

  /// An event that most likely is the one popped after `others` others; null where none is known.
  const Event* upcoming(std::size_t others) const {
    return others < run_.size() ? &run_[run_.size() - 1 - others] : nullptr;
  }

 private:
  static constexpr int digit_bits = 6;
  static constexpr std::size_t digit_values = 1 << digit_bits;
  static constexpr std::size_t digits = (63 + digit_bits - 1) / digit_bits;  // times are not negative

  using Bucket = std::vector<Event>;

  /// Into a bucket. `event` does not come before the run's end.
  void place(const Event& event) {
    if (buckets_.empty()) buckets_.resize(digits * digit_values);  // many queues stay empty
    const auto time = static_cast<std::uint64_t>(event.time_ps);
    const std::uint64_t difference = time ^ base_;
    const auto digit = difference == 0 ? 0 : static_cast<std::size_t>(std::bit_width(difference) - 1) / digit_bits;
    const std::size_t value = time >> (digit * digit_bits) & (digit_values - 1);
    buckets_[digit * digit_values + value].push_back(event);
    occupied_values_[digit] |= std::uint64_t{1} << value;
    occupied_digits_ |= 1U << digit;
  }

  std::size_t next_bucket() const {
    const auto digit = static_cast<std::size_t>(std::countr_zero(occupied_digits_));
    return digit * digit_values + static_cast<std::size_t>(std::countr_zero(occupied_values_[digit]));
  }

  void add_to_run(const Event& event);
  void take_added();
  void open_next_run();

  // The run: all events before its end. What was there when it began, in descending order, and what was pushed since,
  // as a binary heap.
  std::vector<Event> run_;
  std::vector<Event> added_;
  std::uint64_t run_end_ = 0;

  std::uint64_t base_ = 0;  ///< no event of a bucket comes before it
  std::uint32_t occupied_digits_ = 0;
  std::array<std::uint64_t, digits> occupied_values_{};
  std::vector<Bucket> buckets_;
  std::size_t size_ = 0;
  Event last_;
};

}  // namespace proteus::engine
