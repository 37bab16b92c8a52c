// SPDX-License-Identifier: Apache-2.0
#include "radix_heap.hpp"

#include <algorithm>

namespace proteus::engine {
namespace {

bool after(const Event& a, const Event& b) { return b < a; }

}  // namespace

Event RadixHeap::pop() {
  if (sorted_.empty() && added_.empty()) open_next_instant();
  --size_;
  if (!sorted_.empty() && (added_.empty() || sorted_.back() < added_.front())) {
    last_ = sorted_.back();
    sorted_.pop_back();
  } else {
    std::ranges::pop_heap(added_, after);
    last_ = added_.back();
    added_.pop_back();
  }
  return last_;
}

void RadixHeap::add_to_instant(const Event& event) {
  added_.push_back(event);
  std::ranges::push_heap(added_, after);
}

void RadixHeap::open_next_instant() {
  auto index = static_cast<std::size_t>(std::countr_zero(occupied_));
  Bucket& bucket = buckets_[index];
  occupied_ &= ~(std::uint64_t{1} << index);
  last_ = bucket.events[bucket.smallest];
  for (const Event& event : bucket.events) {
    if (event.time_ps == last_.time_ps) {
      sorted_.push_back(event);
    } else {
      place(event);  // into a lower bucket: all of them are empty, and none is this one
    }
  }
  bucket.events.clear();
  if (sorted_.size() > 1) std::ranges::sort(sorted_, after);
}

}  // namespace proteus::engine
