// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "hdf5_handle.hpp"
#include "timeline_buffer.hpp"

namespace proteus::io {

/// The open file while rows come in. All calls but those to the destructor are collective over the communicator and
/// throw OutputError.
class TimelineRows {
 public:
  /// Opens what create_timeline_file() made; MPI_COMM_NULL: one process, no MPI call.
  TimelineRows(const std::filesystem::path& file, MPI_Comm communicator);
  ~TimelineRows();
  TimelineRows(const TimelineRows&) = delete;
  TimelineRows& operator=(const TimelineRows&) = delete;

  /// Stores rows; ranks without any call it too.
  void write(const RowBatch& batch);
  /// Stores how far each traced device is; the values of rank 0 count.
  void write_rows_done(const std::vector<std::int64_t>& rows, bool first_rank);
  void flush();

 private:
  /// Lets go of the file: nothing is written to it any more, no other rank is waited for.
  void leave_alone();
  /// Runs `action`; what goes wrong is told with the name of the file, which is left alone.
  void guarded(const std::function<void()>& action);

  std::filesystem::path path_;
  bool parallel_ = false;
  int exceptions_ = 0;
  Hdf5File file_;
  Hdf5Dataset start_;
  Hdf5Dataset duration_;
  Hdf5Dataset rows_done_;
  Hdf5PropertyList collective_;
};

}  // namespace proteus::io
