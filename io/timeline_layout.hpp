// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "proteus/graph/program.hpp"
#include "proteus/io/timeline.hpp"

namespace proteus::io {

/// Whether the file describes `op` at `level`.
bool keeps_op(TraceLevel level, const graph::ProgramOp& op);

/// Where each row of a run stands in the file, known before the run: rows are ordered by (segment, device, position).
///
/// A class keeps `rows` of its `program_rows` positions of one iteration; kept positions are counted through the whole
/// run, `run_rows` of them. Segment k of n covers the kept positions [k * run_rows / n, (k + 1) * run_rows / n).
class TimelineLayout {
 public:
  struct ClassRows {
    std::int64_t program_rows = 0;   ///< ops of one iteration
    std::int64_t rows = 0;           ///< those that leave a row
    std::int64_t run_rows = 0;       ///< rows of the whole run
    std::vector<std::int32_t> kept;  ///< program position to kept position, -1: none; empty where all are kept
  };

  /// `devices`: traced devices, ascending; empty: all. Throws SimulationError where they are not in the job.
  TimelineLayout(const graph::Job& job, TraceLevel level, const std::vector<std::int64_t>& devices,
                 std::int64_t segment_rows);

  const std::vector<std::int64_t>& devices() const { return devices_; }
  std::uint32_t class_of(std::int64_t index) const { return classes_of_devices_[static_cast<std::size_t>(index)]; }
  const std::vector<ClassRows>& classes() const { return classes_; }
  const ClassRows& rows_of_class(std::uint32_t number) const { return classes_[number]; }

  std::int64_t segments() const { return segments_; }
  std::int64_t total_rows() const { return segment_start_.back(); }
  std::int64_t chunk_rows() const { return chunk_rows_; }

  /// First kept position of a class that belongs to `segment` or a later one.
  std::int64_t first_position(std::uint32_t class_number, std::int64_t segment) const;
  std::int64_t rows_in(std::uint32_t class_number, std::int64_t segment) const {
    return first_position(class_number, segment + 1) - first_position(class_number, segment);
  }
  /// Segment of a kept position of a class.
  std::int64_t segment_of(std::uint32_t class_number, std::int64_t position) const;

  /// First file row of every traced device in `segment`.
  std::vector<std::int64_t> row_starts(std::int64_t segment) const;
  /// File rows that are written once segments up to and including `segment` are: whole chunks only, so that no chunk is
  /// written twice and a run that is killed while it writes cannot spoil what an earlier flush has stored.
  std::int64_t writable_rows(std::int64_t segment) const;
  /// How many rows of every traced device lie in front of file row `end`.
  std::vector<std::int64_t> rows_done(std::int64_t end) const;

 private:
  std::vector<std::int64_t> devices_;
  std::vector<std::uint32_t> classes_of_devices_;
  std::vector<ClassRows> classes_;
  std::int64_t segments_ = 1;
  std::int64_t chunk_rows_ = 1;
  std::vector<std::int64_t> segment_start_;  ///< first file row of each segment, and the number of all rows
};

}  // namespace proteus::io
