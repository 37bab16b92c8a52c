// SPDX-License-Identifier: Apache-2.0
#include "timeline_rows.hpp"

#include <exception>

#include "timeline_file.hpp"

namespace proteus::io {
namespace {

Hdf5Dataset open_dataset(const Hdf5File& file, const char* name) {
  return Hdf5Dataset(hdf5_check(H5Dopen2(file.get(), name, H5P_DEFAULT), std::string("open ") + name));
}

/// Selects the rows of `runs`. Runs of one length at one distance make one hyperslab: a rank that holds every n-th
/// island has thousands of runs, and each hyperslab more costs a pass over those before it.
void select(const Hdf5Space& space, const std::vector<RowRun>& runs) {
  hdf5_check(H5Sselect_none(space.get()), "select rows");
  for (std::size_t begin = 0; begin < runs.size();) {
    std::size_t end = begin + 1;
    hsize_t stride = 1;
    if (end < runs.size()) {
      std::int64_t distance = runs[end].row - runs[begin].row;
      while (end < runs.size() && runs[end].count == runs[begin].count &&
             runs[end].row - runs[end - 1].row == distance) {
        ++end;
      }
      stride = static_cast<hsize_t>(distance);
    }
    const auto first = static_cast<hsize_t>(runs[begin].row);
    const auto count = static_cast<hsize_t>(end - begin);
    const auto block = static_cast<hsize_t>(runs[begin].count);
    if (count == 1) {
      stride = block;
    }
    hdf5_check(
        H5Sselect_hyperslab(space.get(), begin == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, &first, &stride, &count, &block),
        "select rows");
    begin = end;
  }
}

void write_column(const Hdf5Dataset& dataset, const std::vector<RowRun>& runs, const std::vector<std::int64_t>& values,
                  const Hdf5PropertyList& transfer) {
  const auto rows = static_cast<hsize_t>(values.size());
  const hsize_t extent = rows == 0 ? 1 : rows;
  Hdf5Space memory(hdf5_check(H5Screate_simple(1, &extent, nullptr), "select rows"));
  if (rows == 0) {
    hdf5_check(H5Sselect_none(memory.get()), "select rows");
  }
  Hdf5Space space(hdf5_check(H5Dget_space(dataset.get()), "select rows"));
  select(space, runs);
  // HDF5 wants a buffer even where nothing is selected.
  const std::int64_t nothing = 0;
  hdf5_check(H5Dwrite(dataset.get(), H5T_NATIVE_INT64, memory.get(), space.get(), transfer.get(),
                      rows == 0 ? &nothing : values.data()),
             "write rows");
}

}  // namespace

TimelineRows::TimelineRows(const std::filesystem::path& path, MPI_Comm communicator)
    : path_(path),
      parallel_(communicator != MPI_COMM_NULL),
      exceptions_(std::uncaught_exceptions()),
      collective_(hdf5_check(H5Pcreate(H5P_DATASET_XFER), "prepare writing")) {
  Hdf5PropertyList access = timeline_access();
  if (parallel_) {
    hdf5_check(H5Pset_fapl_mpio(access.get(), communicator, MPI_INFO_NULL), "prepare a parallel file");
    // Filtered chunks can only be written by all ranks together.
    hdf5_check(H5Pset_dxpl_mpio(collective_.get(), H5FD_MPIO_COLLECTIVE), "prepare writing");
  }
  guarded([&] {
    file_ = Hdf5File(hdf5_check(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), "open it"));
    start_ = open_dataset(file_, "/timeline/start");
    duration_ = open_dataset(file_, "/timeline/duration");
    rows_done_ = open_dataset(file_, "/devices/rows_done");
  });
}

TimelineRows::~TimelineRows() {
  // Closing is collective. A rank that is thrown out of the run cannot know that the others are too, and would wait for
  // them for ever; all that the file promises has been flushed, so it is left as it is.
  if (parallel_ && std::uncaught_exceptions() > exceptions_) leave_alone();
}

void TimelineRows::leave_alone() {
  start_.release();
  duration_.release();
  rows_done_.release();
  file_.release();
}

void TimelineRows::guarded(const std::function<void()>& action) {
  try {
    action();
  } catch (const OutputError& error) {
    leave_alone();
    throw OutputError(path_.string() + ": " + error.what());
  }
}

void TimelineRows::write(const RowBatch& batch) {
  guarded([&] {
    write_column(start_, batch.runs, batch.start, collective_);
    write_column(duration_, batch.runs, batch.duration, collective_);
  });
}

void TimelineRows::write_rows_done(const std::vector<std::int64_t>& rows, bool first_rank) {
  std::vector<RowRun> all;
  if (first_rank) {
    all.push_back({0, static_cast<std::int64_t>(rows.size())});
  }
  guarded([&] { write_column(rows_done_, all, first_rank ? rows : std::vector<std::int64_t>(), collective_); });
}

void TimelineRows::flush() {
  guarded([&] { hdf5_check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "flush it"); });
}

}  // namespace proteus::io
