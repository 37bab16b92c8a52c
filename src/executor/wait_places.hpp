// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "proteus/graph/program.hpp"

namespace proteus::executor {

/// Where something waits, as the chain of a deadlock goes through islands and communicators.
struct PlaceOfWait {
  enum class Kind : std::uint8_t {
    stream,      ///< the head of a stream of a device
    rendezvous,  ///< a lane of a communicator, which waits for members
    call,        ///< a device that has not called what others wait for on a lane of a family
  };
  Kind kind = Kind::stream;
  std::uint32_t family = 0;  ///< of a call
  std::uint32_t index = 0;   ///< device of the island, group of the island; nothing in communicators of their own
  graph::Stream stream = graph::Stream::compute;  ///< or the lane

  /// In the order of the fields.
  std::uint64_t pack() const {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << 62 | std::uint64_t{family} << 35 |
           std::uint64_t{index} << 3 | static_cast<std::uint8_t>(stream);
  }
  static PlaceOfWait unpack(std::uint64_t place) {
    return {static_cast<Kind>(place >> 62), static_cast<std::uint32_t>(place >> 35 & 0x7ffffff),
            static_cast<std::uint32_t>(place >> 3), static_cast<graph::Stream>(place & 7)};
  }
};

}  // namespace proteus::executor
