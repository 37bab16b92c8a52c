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
/// Bucket b holds the events whose time differs from the last popped time in bit b-1 and in none above: an event moves
/// to a lower bucket at most 63 times, and ties cost nothing until their instant comes (Ahuja, Mehlhorn, Orlin, Tarjan:
/// Faster Algorithms for the Shortest Path Problem, J. ACM 37(2), 1990).
class RadixHeap {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// The smallest event, in constant time. Does not move the instant that push() is checked against. Not when empty.
  const Event& top() const {
    if (!sorted_.empty() && (added_.empty() || sorted_.back() < added_.front())) return sorted_.back();
    if (!added_.empty()) return added_.front();
    const Bucket& bucket = buckets_[static_cast<std::size_t>(std::countr_zero(occupied_))];
    return bucket.events[bucket.smallest];
  }

  /// Throws SimulationError if `event` comes before the last one popped: causality is broken.
  void push(const Event& event) {
    if (event < last_) refuse_late(event, last_);
    ++size_;
    place(event);
  }

  /// Removes and returns top(). Not when empty.
  Event pop();

 private:
  struct Bucket {
    std::vector<Event> events;
    std::size_t smallest = 0;
  };

  void place(const Event& event) {
    auto difference = static_cast<std::uint64_t>(event.time_ps) ^ static_cast<std::uint64_t>(last_.time_ps);
    if (difference == 0) {
      add_to_instant(event);
      return;
    }
    auto index = static_cast<std::size_t>(std::bit_width(difference));
    Bucket& bucket = buckets_[index];
    if (bucket.events.empty()) {
      occupied_ |= std::uint64_t{1} << index;
      bucket.smallest = 0;
    } else if (event < bucket.events[bucket.smallest]) {
      bucket.smallest = bucket.events.size();
    }
    bucket.events.push_back(event);
  }

  void add_to_instant(const Event& event);
  void open_next_instant();

  // The current instant: what was there when it began, in descending order, and what was pushed since, as a binary heap
  // (zero-delay children are few; the events of an instant may be very many).
  std::vector<Event> sorted_;
  std::vector<Event> added_;
  // Times are not negative, so 63 bits can differ; entry 0 stays unused.
  std::array<Bucket, 64> buckets_;
  std::uint64_t occupied_ = 0;
  std::size_t size_ = 0;
  Event last_;
};

}  // namespace proteus::engine
