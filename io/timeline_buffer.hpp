// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "proteus/base/time.hpp"
#include "timeline_layout.hpp"

namespace proteus::io {

/// Neighbouring rows of the file.
struct RowRun {
  std::int64_t row = 0;
  std::int64_t count = 0;
};

/// Rows with their values, in the order of the file.
struct RowBatch {
  std::vector<RowRun> runs;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> duration;
};

/// What a rank holds between recording a row and writing it: one buffer a segment, there from its first row on.
class TimelineBuffer {
 public:
  static constexpr std::int64_t unwritten = -1;

  /// `local_devices`: ascending; those that are not traced are left out. `layout` must outlive the buffer.
  TimelineBuffer(const TimelineLayout& layout, const std::vector<std::int64_t>& local_devices);

  std::int64_t local_devices() const { return static_cast<std::int64_t>(devices_.size()); }
  bool wants(std::int64_t device) const;
  /// Throws SimulationError for a device that is not here, a position outside the run, and a row that comes twice.
  void record(std::int64_t device, std::int64_t position, Time start, Time duration);

  /// Leading segments of which all local rows are recorded.
  std::int64_t complete_segments() const { return complete_; }
  /// Makes the rows of the next segment available to cut(); segments are released in order.
  void release(std::int64_t segment);
  /// Takes the released rows in front of file row `end`.
  RowBatch cut(std::int64_t end);
  /// Takes the storage of a batch back for later segments: touching fresh memory costs more than filling it.
  void recycle(RowBatch&& batch);

 private:
  struct Device {
    std::uint32_t class_number = 0;
    std::int64_t index = 0;    ///< among the traced devices
    std::int64_t segment = 0;  ///< that of its last row, and what of it must be at hand for the next one:
    std::int64_t first = 0;    ///< kept positions [first, last) of the segment
    std::int64_t last = 0;
    std::int64_t offset = 0;  ///< of position `first` in the buffer of the segment
  };
  struct Segment {
    std::int64_t missing = 0;
    std::vector<std::int64_t> offsets;  ///< of each local device
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> duration;
  };

  void enter_segment(Device& device, std::size_t local, std::int64_t position);
  void allocate(std::int64_t segment);
  void skip_complete();
  std::vector<std::int64_t> column(std::int64_t rows);

  const TimelineLayout& layout_;
  std::int64_t first_device_ = 0;
  std::vector<std::int32_t> local_;  ///< device - first_device_ to index in devices_, or -1
  std::vector<Device> devices_;
  std::vector<Segment> segments_;
  std::int64_t complete_ = 0;
  std::int64_t released_segments_ = 0;
  RowBatch released_;
  std::vector<std::vector<std::int64_t>> spare_;
};

}  // namespace proteus::io
