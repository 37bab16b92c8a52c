// SPDX-License-Identifier: Apache-2.0
#include "timeline_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proteus/base/error.hpp"

namespace proteus::io {
namespace {

// One segment is written while the next is filled.
constexpr std::size_t kSpareColumns = 4;

[[noreturn]] void throw_twice(std::int64_t device, std::int64_t position) {
  throw SimulationError(fmt::format("the row of device {} at position {} came twice", device, position));
}

/// Moves the first `count` values of `from` out, in the storage of `from`.
std::vector<std::int64_t> take_front(std::vector<std::int64_t>& from, std::int64_t count) {
  std::vector<std::int64_t> rest(from.begin() + count, from.end());
  from.resize(static_cast<std::size_t>(count));
  return std::exchange(from, std::move(rest));
}

}  // namespace

TimelineBuffer::TimelineBuffer(const TimelineLayout& layout, const std::vector<std::int64_t>& local_devices)
    : layout_(layout), segments_(static_cast<std::size_t>(layout.segments())) {
  const std::vector<std::int64_t>& traced = layout.devices();
  for (std::int64_t device : local_devices) {
    auto found = std::lower_bound(traced.begin(), traced.end(), device);
    if (found == traced.end() || *found != device) {
      continue;
    }
    if (devices_.empty()) {
      first_device_ = device;
    }
    if (device < first_device_ + static_cast<std::int64_t>(local_.size())) {
      throw SimulationError("devices of a rank must be ascending and each named once");
    }
    local_.resize(static_cast<std::size_t>(device - first_device_ + 1), -1);
    local_.back() = static_cast<std::int32_t>(devices_.size());
    std::int64_t index = std::distance(traced.begin(), found);
    devices_.push_back({.class_number = layout.class_of(index), .index = index});
  }
  std::vector<std::int64_t> members(layout.classes().size());
  for (const Device& device : devices_) {
    ++members[device.class_number];
  }
  for (std::int64_t segment = 0; segment < layout.segments(); ++segment) {
    for (std::uint32_t number = 0; number < members.size(); ++number) {
      segments_[static_cast<std::size_t>(segment)].missing += members[number] * layout.rows_in(number, segment);
    }
  }
  skip_complete();
}

bool TimelineBuffer::wants(std::int64_t device) const {
  std::int64_t slot = device - first_device_;
  if (slot < 0 || slot >= static_cast<std::int64_t>(local_.size())) {
    return false;
  }
  std::int32_t local = local_[static_cast<std::size_t>(slot)];
  return local >= 0 && layout_.rows_of_class(devices_[static_cast<std::size_t>(local)].class_number).run_rows > 0;
}

void TimelineBuffer::record(std::int64_t device, std::int64_t position, Time start, Time duration) {
  auto slot = static_cast<std::size_t>(device - first_device_);
  if (slot >= local_.size() || local_[slot] < 0) {
    throw SimulationError(fmt::format("a row of device {} came to a rank that does not trace it", device));
  }
  auto local = static_cast<std::size_t>(local_[slot]);
  Device& here = devices_[local];
  const TimelineLayout::ClassRows& rows = layout_.rows_of_class(here.class_number);
  if (!rows.kept.empty() && position >= 0) {
    std::int64_t iteration = position / rows.program_rows;
    std::int32_t kept = rows.kept[static_cast<std::size_t>(position - iteration * rows.program_rows)];
    if (kept < 0) {
      return;
    }
    position = iteration * rows.rows + kept;
  }
  if (position < here.first || position >= here.last) {
    enter_segment(here, local, position);
  }
  Segment& segment = segments_[static_cast<std::size_t>(here.segment)];
  auto at = static_cast<std::size_t>(here.offset + position - here.first);
  if (at >= segment.start.size() || segment.start[at] != unwritten) {
    throw_twice(device, position);
  }
  segment.start[at] = start.ps();
  segment.duration[at] = duration.ps();
  if (--segment.missing == 0) {
    skip_complete();
  }
}

void TimelineBuffer::enter_segment(Device& device, std::size_t local, std::int64_t position) {
  const TimelineLayout::ClassRows& rows = layout_.rows_of_class(device.class_number);
  if (position < 0 || position >= rows.run_rows) {
    throw SimulationError(fmt::format("position {} of device {} lies outside the {} rows of its program", position,
                                      layout_.devices()[static_cast<std::size_t>(device.index)], rows.run_rows));
  }
  device.segment = layout_.segment_of(device.class_number, position);
  if (device.segment < released_segments_) {
    throw_twice(layout_.devices()[static_cast<std::size_t>(device.index)], position);
  }
  device.first = layout_.first_position(device.class_number, device.segment);
  device.last = layout_.first_position(device.class_number, device.segment + 1);
  if (segments_[static_cast<std::size_t>(device.segment)].offsets.empty()) {
    allocate(device.segment);
  }
  device.offset = segments_[static_cast<std::size_t>(device.segment)].offsets[local];
}

void TimelineBuffer::allocate(std::int64_t number) {
  Segment& segment = segments_[static_cast<std::size_t>(number)];
  segment.offsets.reserve(devices_.size());
  std::int64_t offset = 0;
  for (const Device& device : devices_) {
    segment.offsets.push_back(offset);
    offset += layout_.rows_in(device.class_number, number);
  }
  segment.start = column(offset);
  segment.duration = column(offset);
}

std::vector<std::int64_t> TimelineBuffer::column(std::int64_t rows) {
  std::vector<std::int64_t> values;
  if (!spare_.empty()) {
    values = std::move(spare_.back());
    spare_.pop_back();
  }
  // Room for what an earlier segment leaves behind, which is less than a chunk.
  values.reserve(static_cast<std::size_t>(rows + layout_.chunk_rows()));
  values.assign(static_cast<std::size_t>(rows), unwritten);
  return values;
}

void TimelineBuffer::recycle(RowBatch&& batch) {
  for (std::vector<std::int64_t>* values : {&batch.start, &batch.duration}) {
    if (spare_.size() < kSpareColumns) {
      spare_.push_back(std::move(*values));
    }
  }
}

void TimelineBuffer::skip_complete() {
  while (complete_ < layout_.segments() && segments_[static_cast<std::size_t>(complete_)].missing == 0) {
    ++complete_;
  }
}

void TimelineBuffer::release(std::int64_t number) {
  Segment& segment = segments_[static_cast<std::size_t>(number)];
  if (!segment.start.empty()) {
    std::vector<std::int64_t> row_starts = layout_.row_starts(number);
    for (const Device& device : devices_) {
      std::int64_t row = row_starts[static_cast<std::size_t>(device.index)];
      std::int64_t count = layout_.rows_in(device.class_number, number);
      std::vector<RowRun>& runs = released_.runs;
      if (!runs.empty() && runs.back().row + runs.back().count == row) {
        runs.back().count += count;
      } else if (count > 0) {
        runs.push_back({row, count});
      }
    }
    segment.start.insert(segment.start.begin(), released_.start.begin(), released_.start.end());
    segment.duration.insert(segment.duration.begin(), released_.duration.begin(), released_.duration.end());
    released_.start = std::move(segment.start);
    released_.duration = std::move(segment.duration);
  }
  segment = {};
  released_segments_ = number + 1;
}

RowBatch TimelineBuffer::cut(std::int64_t end) {
  std::vector<RowRun>& runs = released_.runs;
  std::int64_t rows = 0;
  RowBatch batch;
  std::vector<RowRun> rest;
  for (const RowRun& run : runs) {
    std::int64_t count = std::clamp<std::int64_t>(end - run.row, 0, run.count);
    if (count > 0) {
      batch.runs.push_back({run.row, count});
    }
    if (count < run.count) {
      rest.push_back({run.row + count, run.count - count});
    }
    rows += count;
  }
  runs = std::move(rest);
  batch.start = take_front(released_.start, rows);
  batch.duration = take_front(released_.duration, rows);
  return batch;
}

}  // namespace proteus::io
