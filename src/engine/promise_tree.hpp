// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "proteus/base/time.hpp"

namespace proteus::engine {

/// The smallest of many times of which few change between two questions: a tournament in an array.
class PromiseTree {
 public:
  explicit PromiseTree(std::size_t size = 0)
      : leaves_(std::bit_ceil(std::max<std::size_t>(size, 1))), nodes_(2 * leaves_, Time::infinity()) {}

  void set(std::size_t index, Time time) {
    std::size_t node = leaves_ + index;
    nodes_[node] = time;
    for (node /= 2; node > 0; node /= 2) {
      Time smaller = std::min(nodes_[2 * node], nodes_[2 * node + 1]);
      if (nodes_[node] == smaller) return;
      nodes_[node] = smaller;
    }
  }

  Time smallest() const { return nodes_[1]; }

 private:
  std::size_t leaves_;
  std::vector<Time> nodes_;
};

}  // namespace proteus::engine
