// SPDX-License-Identifier: Apache-2.0
#include "timeline_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "proteus/base/error.hpp"

namespace proteus::io {
namespace {

// 512 KiB of int64, which the default chunk cache of 1 MiB holds. Measured over 16 Ki to 1 Mi rows: smaller chunks
// multiply the collective metadata steps, larger ones make reading one device slow (docs/trace-format.md).
constexpr std::int64_t kChunkRows = 65536;

TimelineLayout::ClassRows rows_of(const graph::Job& job, const graph::Program& program, TraceLevel level) {
  TimelineLayout::ClassRows result;
  result.program_rows = program.rows();
  if (level == TraceLevel::comm) {
    result.kept.reserve(static_cast<std::size_t>(result.program_rows));
    for (const graph::Step& step : program.steps) {
      for (const graph::ProgramOp& op : job.phases[step.phase].ops) {
        bool keep = keeps_op(level, op);
        result.kept.push_back(keep ? static_cast<std::int32_t>(result.rows) : -1);
        result.rows += keep ? 1 : 0;
      }
    }
  } else if (level == TraceLevel::all) {
    result.rows = result.program_rows;
  }
  result.run_rows = result.rows * job.iterations;
  return result;
}

std::vector<std::int64_t> traced(const graph::Job& job, const std::vector<std::int64_t>& wanted) {
  if (wanted.empty()) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(job.devices));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  if (std::adjacent_find(wanted.begin(), wanted.end(), std::greater_equal<>()) != wanted.end()) {
    throw SimulationError("traced devices must be ascending and each named once");
  }
  if (wanted.front() < 0 || wanted.back() >= job.devices) {
    throw SimulationError(fmt::format("traced device {} is not one of the {} devices of the job",
                                      wanted.front() < 0 ? wanted.front() : wanted.back(), job.devices));
  }
  return wanted;
}

}  // namespace

bool keeps_op(TraceLevel level, const graph::ProgramOp& op) { return level != TraceLevel::comm || !op.is_compute(); }

TimelineLayout::TimelineLayout(const graph::Job& job, TraceLevel level, const std::vector<std::int64_t>& devices,
                               std::int64_t segment_rows)
    : devices_(traced(job, devices)) {
  classes_.reserve(job.programs.size());
  for (const graph::Program& program : job.programs) {
    classes_.push_back(rows_of(job, program, level));
  }
  std::vector<std::int64_t> members(classes_.size());
  classes_of_devices_.reserve(devices_.size());
  std::int64_t total = 0;
  for (std::int64_t device : devices_) {
    std::uint32_t number = job.class_of(device);
    classes_of_devices_.push_back(number);
    ++members[number];
    total += classes_[number].run_rows;
  }
  segments_ = std::max<std::int64_t>(1, (total + segment_rows - 1) / segment_rows);
  chunk_rows_ = std::clamp<std::int64_t>(total / segments_, 1, kChunkRows);
  segment_start_.reserve(static_cast<std::size_t>(segments_) + 1);
  for (std::int64_t segment = 0; segment <= segments_; ++segment) {
    std::int64_t start = 0;
    for (std::uint32_t number = 0; number < classes_.size(); ++number) {
      start += members[number] * first_position(number, segment);
    }
    segment_start_.push_back(start);
  }
}

std::int64_t TimelineLayout::first_position(std::uint32_t class_number, std::int64_t segment) const {
  return segment * classes_[class_number].run_rows / segments_;
}

std::int64_t TimelineLayout::segment_of(std::uint32_t class_number, std::int64_t position) const {
  // The largest k with floor(k * P / n) <= p, that is k * P < (p + 1) * n.
  return ((position + 1) * segments_ - 1) / classes_[class_number].run_rows;
}

std::vector<std::int64_t> TimelineLayout::row_starts(std::int64_t segment) const {
  std::vector<std::int64_t> counts(classes_.size());
  for (std::uint32_t number = 0; number < classes_.size(); ++number) {
    counts[number] = rows_in(number, segment);
  }
  std::vector<std::int64_t> starts;
  starts.reserve(devices_.size());
  std::int64_t row = segment_start_[static_cast<std::size_t>(segment)];
  for (std::uint32_t number : classes_of_devices_) {
    starts.push_back(row);
    row += counts[number];
  }
  return starts;
}

std::int64_t TimelineLayout::writable_rows(std::int64_t segment) const {
  std::int64_t end = segment_start_[static_cast<std::size_t>(segment) + 1];
  return end == total_rows() ? end : end / chunk_rows_ * chunk_rows_;
}

std::vector<std::int64_t> TimelineLayout::rows_done(std::int64_t end) const {
  auto behind = std::upper_bound(segment_start_.begin(), segment_start_.end() - 1, end);
  std::int64_t segment = std::distance(segment_start_.begin(), behind) - 1;
  std::vector<std::int64_t> done = row_starts(segment);
  for (std::size_t i = 0; i < done.size(); ++i) {
    std::uint32_t number = classes_of_devices_[i];
    done[i] = first_position(number, segment) + std::clamp<std::int64_t>(end - done[i], 0, rows_in(number, segment));
  }
  return done;
}

}  // namespace proteus::io
