// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "binary_heap.hpp"
#include "proteus/engine/simulation.hpp"
#include "radix_heap.hpp"

namespace proteus::engine {

/// The pending-event set that the user chose. A branch, not a virtual call: pop and push take some twenty nanoseconds.
class EventQueue {
 public:
  explicit EventQueue(QueueKind kind = QueueKind::radix) : is_radix_(kind == QueueKind::radix) {}

  bool empty() const { return is_radix_ ? radix_.empty() : binary_.empty(); }
  const Event& top() { return is_radix_ ? radix_.top() : binary_.top(); }
  void push(const Event& event) { is_radix_ ? radix_.push(event) : binary_.push(event); }
  Event pop() { return is_radix_ ? radix_.pop() : binary_.pop(); }
  /// See RadixHeap.
  const Event* upcoming(std::size_t others) const { return is_radix_ ? radix_.upcoming(others) : nullptr; }

 private:
  bool is_radix_;
  RadixHeap radix_;
  BinaryHeap binary_;
};

}  // namespace proteus::engine
