// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hdf5_handle.hpp"
#include "proteus/io/event_counts.hpp"
#include "proteus/io/timeline.hpp"
#include "timeline_layout.hpp"

namespace proteus::io {

/// What the end of a run adds to the file.
struct TimelineEnd {
  struct Summary {
    std::vector<double> values;
    std::string unit;
  };
  std::map<std::string, Summary> summary;
  std::map<std::string, std::string> attributes;
  std::map<std::string, std::string> engine;
  std::optional<EventCounts> events;
};

/// Settings of every open: files that HDF5 1.10 and everything younger reads.
Hdf5PropertyList timeline_access();

/// Writes a file with everything that is known before the run and room for all rows; one process, no MPI.
/// All throw OutputError.
void create_timeline_file(const std::filesystem::path& file, const TimelineOptions& options,
                          const TimelineHeader& header, const graph::Job& job, const TimelineLayout& layout);

/// Adds the end of the run and marks the file complete; one process, no MPI.
void finish_timeline_file(const std::filesystem::path& file, const TimelineEnd& end);

/// The part of create_timeline_file that tells what each class runs: /programs, /strings, /memory.
void write_programs(hid_t file, const graph::Job& job, TraceLevel level);

}  // namespace proteus::io
