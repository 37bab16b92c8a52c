// SPDX-License-Identifier: Apache-2.0
#include "binary_heap.hpp"

#include <algorithm>

#include "causality.hpp"

namespace proteus::engine {
namespace {

bool after(const Event& a, const Event& b) { return b < a; }

}  // namespace

void BinaryHeap::push(const Event& event) {
  if (event < last_) refuse_late(event, last_);
  events_.push_back(event);
  std::ranges::push_heap(events_, after);
}

Event BinaryHeap::pop() {
  std::ranges::pop_heap(events_, after);
  last_ = events_.back();
  events_.pop_back();
  return last_;
}

}  // namespace proteus::engine
