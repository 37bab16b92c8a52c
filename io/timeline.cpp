// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/timeline.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <iostream>
#include <optional>
#include <system_error>

#include "proteus/base/error.hpp"
#include "timeline_buffer.hpp"
#include "timeline_file.hpp"
#include "timeline_layout.hpp"
#include "timeline_rows.hpp"

namespace proteus::io {
namespace {

/// What the ranks of a run have to agree on. Without MPI there is one.
class Ranks {
 public:
  explicit Ranks(MPI_Comm communicator) : communicator_(communicator) {
    if (parallel()) {
      MPI_Comm_rank(communicator, &rank_);
    }
  }

  MPI_Comm communicator() const { return communicator_; }
  bool first() const { return rank_ == 0; }

  /// Runs `action` and, where it failed on any rank, throws on all with the reason of the first that failed.
  void together(const std::function<void()>& action) const {
    std::string error;
    try {
      action();
    } catch (const OutputError& failure) {
      error = failure.what();
    }
    int failed = least(error.empty() ? std::numeric_limits<int>::max() : rank_);
    if (failed != std::numeric_limits<int>::max()) {
      throw OutputError(said_by(failed, error));
    }
  }

  /// Runs an `action` whose calls wait for all ranks. Where it fails on one, the others are inside a call that can
  /// never end: the job is ended, with the reason.
  void collectively(const std::function<void()>& action) const {
    try {
      action();
    } catch (const std::exception& failure) {
      int size = 1;
      if (parallel()) MPI_Comm_size(communicator_, &size);
      if (size < 2) throw;
      std::cerr << "proteus: error: rank " << rank_ << ": " << failure.what() << std::endl;
      MPI_Abort(communicator_, exit_status);
    }
  }

  template <typename Number>
  Number least(Number value) const {
    if (parallel()) {
      MPI_Allreduce(MPI_IN_PLACE, &value, 1, sizeof(Number) == 8 ? MPI_INT64_T : MPI_INT32_T, MPI_MIN, communicator_);
    }
    return value;
  }

  std::int64_t sum(std::int64_t value) const {
    if (parallel()) {
      MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, communicator_);
    }
    return value;
  }

 private:
  bool parallel() const { return communicator_ != MPI_COMM_NULL; }

  std::string said_by(int rank, std::string text) const {
    if (parallel()) {
      auto size = static_cast<int>(text.size());
      MPI_Bcast(&size, 1, MPI_INT, rank, communicator_);
      text.resize(static_cast<std::size_t>(size));
      MPI_Bcast(text.data(), size, MPI_CHAR, rank, communicator_);
    }
    return text;
  }

  static constexpr int exit_status = 73;  // as for every file that cannot be written (EX_CANTCREAT of sysexits.h)

  MPI_Comm communicator_;
  int rank_ = 0;
};

std::filesystem::path part_of(const std::filesystem::path& file) { return file.string() + ".part"; }

/// HDF5 would only say "unable to open file".
void check_place(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::path directory = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!file.has_filename()) {
    throw OutputError(fmt::format("cannot write '{}': a file name is missing", file.string()));
  }
  if (!std::filesystem::exists(directory, ignored)) {
    throw OutputError(fmt::format("cannot write {}: directory {} does not exist", file.string(), directory.string()));
  }
  if (!std::filesystem::is_directory(directory, ignored)) {
    throw OutputError(fmt::format("cannot write {}: {} is not a directory", file.string(), directory.string()));
  }
  if (std::filesystem::is_directory(file, ignored)) {
    throw OutputError(fmt::format("cannot write {}: it is a directory", file.string()));
  }
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored)) {
    throw OutputError(fmt::format("cannot write {}: it exists and is no regular file", file.string()));
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw OutputError(
        fmt::format("cannot write {}: no permission to write in directory {}", file.string(), directory.string()));
  }
}

}  // namespace

struct TimelineWriter::Implementation {
  Implementation(const TimelineOptions& options, const graph::Job& job, const std::vector<std::int64_t>& local_devices,
                 MPI_Comm communicator)
      : file(options.file),
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
    }
  }

  std::filesystem::path file;
  Ranks ranks;
  TimelineLayout layout;
  TimelineBuffer buffer;
  std::optional<TimelineRows> rows;
  TimelineEnd end;
  std::int64_t next_segment = 0;
  std::int64_t written = 0;  ///< file rows
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
  const std::filesystem::path part = part_of(options.file);
  self.ranks.together([&] {
    if (self.ranks.first()) {
      check_place(options.file);
      create_timeline_file(part, options, header, job, self.layout);
    }
  });
  self.ranks.collectively([&] { self.rows.emplace(part, communicator); });
}

TimelineWriter::~TimelineWriter() = default;

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
  self.ranks.collectively([&] { self.write_segments(until); });
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
  self.ranks.together([&] {
    if (self.ranks.first()) {
      finish_timeline_file(part_of(self.file), self.end);
      std::error_code failure;
      std::filesystem::rename(part_of(self.file), self.file, failure);
      if (failure) {
        throw OutputError(fmt::format("cannot rename {} to {}: {}", part_of(self.file).string(), self.file.string(),
                                      failure.message()));
      }
    }
  });
}

}  // namespace proteus::io
