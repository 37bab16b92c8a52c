// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "proteus/base/time.hpp"

namespace proteus::executor {

/// Takes the timeline as it is found. Each (device, position) comes once, in any order between streams of a device.
class RowSink {
 public:
  virtual ~RowSink() = default;

  /// Whether rows of `device` are wanted at all; asked once per device.
  virtual bool wants(std::int64_t device) const = 0;

  /// `position`: program position over the whole run: iteration * Program::rows() + rows_before[step] + op number.
  virtual void record(std::int64_t device, std::int64_t position, Time start, Time duration) = 0;
};

}  // namespace proteus::executor
