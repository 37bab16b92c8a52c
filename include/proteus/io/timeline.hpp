// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proteus/executor/row_sink.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/io/event_counts.hpp"
#include "proteus/io/experiment.hpp"

namespace proteus::io {

/// What stands in the file beside the timeline. Everything in `engine` may differ between two equal runs and is
/// written below /engine; nothing else may.
struct TimelineHeader {
  std::string resolved_config;
  std::uint64_t seed = 0;
  std::string version;                        ///< of Proteus, "0.1.0"
  std::map<std::string, std::string> engine;  ///< ranks, host, date, command line, git revision, ...
};

struct TimelineOptions {
  std::filesystem::path file;  ///< final name; written as FILE.part until complete
  TraceLevel level = TraceLevel::all;
  std::vector<std::int64_t> devices;  ///< traced devices, ascending; empty: all
  bool compress = true;
  std::int64_t segment_rows = std::int64_t{1} << 22;  ///< rows of a segment, over all devices
};

/// Writes a run into one shared HDF5 file (docs/trace-format.md). One object a rank.
class TimelineWriter final : public executor::RowSink {
 public:
  /// Collective over `communicator`. `local_devices`: ascending devices whose rows this rank will record.
  /// MPI_COMM_NULL: a single process; no MPI call is made.
  TimelineWriter(const TimelineOptions& options, const TimelineHeader& header, const graph::Job& job,
                 const std::vector<std::int64_t>& local_devices, MPI_Comm communicator);
  ~TimelineWriter() override;

  bool wants(std::int64_t device) const override;
  void record(std::int64_t device, std::int64_t position, Time start, Time duration) override;

  /// Leading segments of which this rank holds every row it owes.
  std::int64_t complete_segments() const;
  /// Collective: writes and flushes segments up to (excluding) `until`; every rank passes the same number. Rows behind
  /// the last whole chunk wait for the next call or close(). Throws SimulationError where a segment is not complete.
  void write_until(std::int64_t until);

  /// One dataset below /summary, the same on every rank; written by close().
  void add_summary(const std::string& name, const std::vector<double>& values, const std::string& unit);
  void add_attribute(const std::string& name, const std::string& value);
  void add_engine(const std::string& name, const std::string& value);
  /// Needed where rank 0 is only.
  void add_event_counts(EventCounts counts);

  /// Collective: writes what is left, sets `complete`, closes and renames FILE.part to FILE.
  void close();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace proteus::io
