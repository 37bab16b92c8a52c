// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>

#include "proteus/base/time.hpp"

namespace proteus::engine {

/// Something that happens to one logical process. 32 bytes, so that the heap moves half a cache line.
///
/// Order is {time, delta, priority, object, instance, member}: identities of the model, never counters of a sender or a
/// rank, so every logical process sees the same sequence however the model is cut. `delta` counts zero-delay
/// children: the scheduler sets it.
struct Event {
  std::int64_t time_ps = 0;
  std::uint16_t delta = 0;
  std::uint8_t priority = 0;   ///< lower first
  std::uint8_t kind = 0;       ///< meaning is the receiver's; must be a function of the other key fields
  std::uint32_t object = 0;    ///< the logical process that handles it
  std::uint32_t instance = 0;  ///< which collective instance, which activity, ...
  std::uint32_t member = 0;    ///< which member, which device of the object
  std::uint64_t payload = 0;   ///< a value; not part of the order

  Time time() const { return Time::picoseconds(time_ps); }

  friend bool operator<(const Event& a, const Event& b) {
    if (a.time_ps != b.time_ps) return a.time_ps < b.time_ps;
    return a.tie_break() < b.tie_break();
  }

  struct TieBreak {
    std::uint64_t first;
    std::uint64_t second;
    auto operator<=>(const TieBreak&) const = default;
  };
  TieBreak tie_break() const {
    return {(std::uint64_t{delta} << 48) | (std::uint64_t{priority} << 40) | object,
            (std::uint64_t{instance} << 32) | member};
  }
};
static_assert(sizeof(Event) == 32 && std::is_trivially_copyable_v<Event>);

}  // namespace proteus::engine
