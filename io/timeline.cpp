// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/timeline.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "disk_space.hpp"
#include "proteus/base/error.hpp"
#include "proteus/io/output_file.hpp"
#include "timeline_buffer.hpp"
#include "timeline_file.hpp"
#include "timeline_layout.hpp"
#include "timeline_ranks.hpp"
#include "timeline_rows.hpp"

namespace proteus::io {
namespace {

constexpr std::uint64_t bytes_of_a_row = 16;  // start and duration
// Of one chunk: its entry in the index and in the lists of free entries, at least half full. Of what is not rows: the
// superblock, object headers, blocks that HDF5 allocates ahead.
constexpr std::uint64_t index_bytes_of_a_chunk = 256;
constexpr std::uint64_t bytes_beside_the_rows = 64 << 10;
// A chunk of 512 KiB of one value takes under 2 KB (docs/trace-format.md).
constexpr std::uint64_t least_compression_of_nothing = 256;

}  // namespace

struct TimelineWriter::Implementation {
  Implementation(const TimelineOptions& options, const graph::Job& job, const std::vector<std::int64_t>& local_devices,
                 MPI_Comm communicator)
      : file(linked_file(options.file)),
        compress(options.compress),
        ranks(communicator),
        layout(job, options.level, options.devices, options.segment_rows),
        buffer(layout, local_devices) {}

  void write_segment(std::int64_t number) {
    buffer.release(number);
    std::int64_t until = layout.writable_rows(number);
    if (until > written) {
      RowBatch batch = buffer.cut(until);
      rows->write(batch);
      buffer.recycle(std::move(batch));
      written = until;
    }
  }

  /// Stores segments up to `until`. The count of rows follows the rows: a file never claims what it does not hold.
  void write_segments(std::int64_t until) {
    std::int64_t before = written;
    for (; next_segment < until; ++next_segment) {
      write_segment(next_segment);
    }
    if (written > before) {
      rows->flush();
      rows->write_rows_done(layout.rows_done(written), ranks.first());
      rows->flush();
      rows_stored = true;
    }
  }

  /// With MPI a disk that is full would only be met inside a collective write, which MPI-IO does not always come back
  /// from. So what `row_count` rows may take, `bytes` and what comes with them, is set aside before.
  void reserve(std::uint64_t row_count, std::uint64_t bytes) {
    if (!ranks.parallel()) return;
    const std::uint64_t chunks = 2 * (row_count / static_cast<std::uint64_t>(layout.chunk_rows()) + 1);
    ranks.together([&] {
      if (ranks.first()) reserve_space(part(), bytes + chunks * index_bytes_of_a_chunk + bytes_beside_the_rows);
    });
  }

  /// HDF5 gives every chunk its place when several ranks open the file: whole, or compressed without a row in it.
  void reserve_at_opening() {
    const auto all = static_cast<std::uint64_t>(layout.total_rows());
    reserve(all, all * bytes_of_a_row / (compress ? least_compression_of_nothing : 1));
  }

  /// Compressed chunks grow, and so move behind the end of the file.
  void reserve_until(std::int64_t segment) {
    const std::int64_t last = layout.writable_rows(segment - 1);
    if (!compress || last <= written) return;
    const auto row_count = static_cast<std::uint64_t>(last - written);
    reserve(row_count, row_count * bytes_of_a_row);
  }

  /// Runs an action that writes. What is left of a file that cannot be written is kept for its rows.
  void write(const std::function<void()>& action) {
    try {
      action();
    } catch (const OutputError&) {
      if (output) output->keep_part(rows_stored);
      throw;
    }
  }
  void collectively(const std::function<void()>& action) {
    ranks.collectively(action, [this] { return OutputFile::abandon(file, rows_stored); });
  }
  /// What the first rank does for all. Where HDF5 fails, there is no orderly end: MPI_Finalize would close the file.
  void alone(const std::function<void()>& action) {
    collectively([&] {
      if (ranks.first()) action();
    });
  }

  std::filesystem::path part() const { return OutputFile::part_of(file); }

  std::filesystem::path file;
  bool compress = true;
  Ranks ranks;
  std::optional<OutputFile> output;  ///< of the first rank
  TimelineLayout layout;
  TimelineBuffer buffer;
  std::optional<TimelineRows> rows;
  TimelineEnd end;
  std::int64_t next_segment = 0;
  std::int64_t written = 0;  ///< file rows
  bool rows_stored = false;  ///< the file has some and says so
};

TimelineWriter::TimelineWriter(const TimelineOptions& options, const TimelineHeader& header, const graph::Job& job,
                               const std::vector<std::int64_t>& local_devices, MPI_Comm communicator)
    : implementation_(std::make_unique<Implementation>(options, job, local_devices, communicator)) {
  Hdf5Quiet quiet;
  Implementation& self = *implementation_;
  std::int64_t recorded = self.ranks.sum(self.buffer.local_devices());
  if (recorded != static_cast<std::int64_t>(self.layout.devices().size())) {
    throw SimulationError(
        fmt::format("{} devices are traced, but the ranks record {}", self.layout.devices().size(), recorded));
  }
  self.write([&] {
    self.ranks.together([&] {
      if (self.ranks.first()) {
        self.output.emplace(options.file);
        self.output->keep_part(true);  // of a run that is stopped or fails; where writing fails, see write()
      }
    });
    self.alone([&] { create_timeline_file(self.part(), options, header, job, self.layout); });
    self.reserve_at_opening();
    self.collectively([&] { self.rows.emplace(self.part(), self.ranks.communicator()); });
  });
}

TimelineWriter::~TimelineWriter() {
  Hdf5Quiet quiet;
  implementation_.reset();
}

bool TimelineWriter::wants(std::int64_t device) const { return implementation_->buffer.wants(device); }

void TimelineWriter::record(std::int64_t device, std::int64_t position, Time start, Time duration) {
  implementation_->buffer.record(device, position, start, duration);
}

std::int64_t TimelineWriter::complete_segments() const { return implementation_->buffer.complete_segments(); }

void TimelineWriter::write_until(std::int64_t until) {
  Hdf5Quiet quiet;
  Implementation& self = *implementation_;
  std::int64_t complete = self.ranks.least(self.buffer.complete_segments());
  if (until > complete) {
    throw SimulationError(
        fmt::format("segments up to {} are to be written, but only {} are complete", until, complete));
  }
  if (until <= self.next_segment) return;
  self.write([&] {
    self.reserve_until(until);
    self.collectively([&] { self.write_segments(until); });
  });
}

void TimelineWriter::add_summary(const std::string& name, const std::vector<double>& values, const std::string& unit) {
  implementation_->end.summary.insert_or_assign(name, TimelineEnd::Summary{values, unit});
}

void TimelineWriter::add_attribute(const std::string& name, const std::string& value) {
  implementation_->end.attributes.insert_or_assign(name, value);
}

void TimelineWriter::add_engine(const std::string& name, const std::string& value) {
  implementation_->end.engine.insert_or_assign(name, value);
}

void TimelineWriter::add_event_counts(EventCounts counts) { implementation_->end.events = std::move(counts); }

void TimelineWriter::close() {
  write_until(implementation_->layout.segments());
  Hdf5Quiet quiet;
  Implementation& self = *implementation_;
  self.rows.reset();
  self.write([&] {
    self.alone([&] {
      if (self.ranks.parallel()) release_space(self.part());
      finish_timeline_file(self.part(), self.end);
    });
    self.ranks.together([&] {
      if (self.ranks.first()) self.output->commit();
    });
  });
}

}  // namespace proteus::io
