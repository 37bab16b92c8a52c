// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "proteus/engine/event.hpp"

namespace proteus::engine {

/// Pending events in a plain binary heap, smallest first by the full order of Event: the reference for RadixHeap.
class BinaryHeap {
 public:
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }

  /// Not when empty.
  const Event& top() const { return events_.front(); }

  /// Throws SimulationError if `event` comes before the last one popped: causality is broken.
  void push(const Event& event);

  /// Removes and returns top(). Not when empty.
  Event pop();

 private:
  std::vector<Event> events_;
  Event last_;
};

}  // namespace proteus::engine
