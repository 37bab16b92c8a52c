// SPDX-License-Identifier: Apache-2.0
#include "timeline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "event_counts_hdf5.hpp"
#include "timeline_buffer.hpp"
#include "timeline_hdf5.hpp"

namespace proteus::io {
namespace {

constexpr const char* kFormatVersion = "0.9";
// Higher levels cost more time and save under 4 % (docs/trace-format.md).
constexpr unsigned kDeflateLevel = 1;

std::string_view name_of(TraceLevel level) {
  switch (level) {
    case TraceLevel::none:
      return "none";
    case TraceLevel::summary:
      return "summary";
    case TraceLevel::comm:
      return "comm";
    case TraceLevel::all:
      return "all";
  }
  return "";
}

void write_root(hid_t file, const TimelineOptions& options, const TimelineHeader& header, const graph::Job& job) {
  write_attribute(file, "format", "proteus-timeline");
  write_attribute(file, "format_version", kFormatVersion);
  write_attribute(file, "creator", "proteus");
  write_attribute(file, "version", header.version);
  write_attribute(file, "seed", header.seed);
  write_attribute(file, "trace", std::string(name_of(options.level)));
  write_attribute(file, "devices", job.devices);
  write_attribute(file, "iterations", static_cast<std::int64_t>(job.iterations));
  write_attribute(file, "complete", std::int32_t{0});
  write_string(file, "config", header.resolved_config);
  Hdf5Group engine = create_group(file, "engine");
  for (const auto& [name, value] : header.engine) {
    write_attribute(engine.get(), name, value);
  }
  create_group(file, "summary");
}

void write_mesh(hid_t group, const graph::Job& job, const TimelineLayout& layout) {
  std::string axes;
  std::int64_t stride = 1;
  for (const auto& [axis, size] : job.mesh) {
    std::vector<std::uint32_t> coordinates;
    coordinates.reserve(layout.devices().size());
    for (std::int64_t device : layout.devices()) {
      coordinates.push_back(static_cast<std::uint32_t>(device / stride % size));
    }
    stride *= size;
    // A mesh axis may bear the name of a column.
    std::string column = H5Lexists(group, axis.c_str(), H5P_DEFAULT) > 0 ? "mesh_" + axis : axis;
    write_column(group, column, coordinates);
    axes += (axes.empty() ? "" : ",") + column;
  }
  write_attribute(group, "axes", axes);
}

void write_row_starts(hid_t group, const TimelineLayout& layout) {
  const auto devices = static_cast<hsize_t>(layout.devices().size());
  const auto segments = static_cast<hsize_t>(layout.segments());
  Hdf5Dataset dataset = create_dataset(group, "row_start", H5T_STD_I64LE, {segments, devices});
  Hdf5Space space(hdf5_check(H5Dget_space(dataset.get()), "write row_start"));
  Hdf5Space line(hdf5_check(H5Screate_simple(1, &devices, nullptr), "write row_start"));
  for (hsize_t segment = 0; segment < segments; ++segment) {
    std::vector<std::int64_t> starts = layout.row_starts(static_cast<std::int64_t>(segment));
    const hsize_t first[] = {segment, 0};
    const hsize_t count[] = {1, devices};
    hdf5_check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, first, nullptr, count, nullptr), "write row_start");
    hdf5_check(H5Dwrite(dataset.get(), H5T_NATIVE_INT64, line.get(), space.get(), H5P_DEFAULT, starts.data()),
               "write row_start");
  }
}

void write_devices(hid_t file, const graph::Job& job, const TimelineLayout& layout) {
  Hdf5Group group = create_group(file, "devices");
  const std::vector<std::int64_t>& devices = layout.devices();
  std::vector<std::uint32_t> classes;
  std::vector<std::uint32_t> stages;
  std::vector<std::int64_t> nodes;
  for (std::int64_t device : devices) {
    classes.push_back(job.class_of(device));
    stages.push_back(job.stage_of(device));
    nodes.push_back(device / job.island_size);
  }
  write_column(group.get(), "device", devices);
  write_column(group.get(), "class", classes);
  write_column(group.get(), "stage", stages);
  write_column(group.get(), "node", nodes);
  write_column(group.get(), "rows_done", std::vector<std::int64_t>(devices.size(), 0));
  write_row_starts(group.get(), layout);
  write_mesh(group.get(), job, layout);
}

/// No row has storage yet: unwritten ones read as the fill value.
void create_rows(hid_t file, const TimelineLayout& layout, bool compress) {
  Hdf5Group group = create_group(file, "timeline");
  Hdf5PropertyList creation(hdf5_check(H5Pcreate(H5P_DATASET_CREATE), "create /timeline"));
  const std::int64_t unwritten = TimelineBuffer::unwritten;
  hdf5_check(H5Pset_fill_value(creation.get(), H5T_NATIVE_INT64, &unwritten), "create /timeline");
  hdf5_check(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_ALLOC), "create /timeline");
  if (layout.total_rows() > 0) {
    auto chunk = static_cast<hsize_t>(layout.chunk_rows());
    hdf5_check(H5Pset_chunk(creation.get(), 1, &chunk), "create /timeline");
    if (compress) {
      hdf5_check(H5Pset_shuffle(creation.get()), "create /timeline");
      hdf5_check(H5Pset_deflate(creation.get(), kDeflateLevel), "create /timeline");
    }
  }
  for (const char* name : {"start", "duration"}) {
    Hdf5Dataset dataset =
        create_dataset(group.get(), name, H5T_STD_I64LE, {static_cast<hsize_t>(layout.total_rows())}, creation.get());
    write_attribute(dataset.get(), "unit", "ps");
    write_attribute(dataset.get(), "to_seconds", 1e-12);
  }
}

}  // namespace

Hdf5PropertyList timeline_access() {
  Hdf5PropertyList access(hdf5_check(H5Pcreate(H5P_FILE_ACCESS), "prepare a file"));
  hdf5_check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), "prepare a file");
  return access;
}

namespace {

/// Runs `action` on the file and flushes it; what goes wrong is told with its name.
void write_to(Hdf5File file, const std::filesystem::path& path, const std::function<void(hid_t)>& action) {
  try {
    action(file.get());
    hdf5_check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "flush it");
  } catch (const OutputError& error) {
    file.release();
    throw OutputError(path.string() + ": " + error.what());
  }
}

}  // namespace

void create_timeline_file(const std::filesystem::path& path, const TimelineOptions& options,
                          const TimelineHeader& header, const graph::Job& job, const TimelineLayout& layout) {
  Hdf5PropertyList access = timeline_access();
  Hdf5PropertyList creation(hdf5_check(H5Pcreate(H5P_FILE_CREATE), "prepare a file"));
  // With MPI each chunk has storage before it is written, which grows and so moves. Were the old place used again, then
  // the chunks that a killed run never wrote could not be read.
  hdf5_check(H5Pset_file_space_strategy(creation.get(), H5F_FSPACE_STRATEGY_NONE, false, 1), "prepare a file");
  Hdf5File file(
      hdf5_check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), "create " + path.string()));
  write_to(std::move(file), path, [&](hid_t id) {
    write_root(id, options, header, job);
    write_programs(id, job, options.level);
    write_devices(id, job, layout);
    create_rows(id, layout, options.compress);
  });
}

void finish_timeline_file(const std::filesystem::path& path, const TimelineEnd& end) {
  Hdf5PropertyList access = timeline_access();
  Hdf5File file(hdf5_check(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), "open " + path.string()));
  write_to(std::move(file), path, [&](hid_t id) {
    for (const auto& [name, summary] : end.summary) {
      write_attribute(write_column(id, "/summary/" + name, summary.values).get(), "unit", summary.unit);
    }
    for (const auto& [name, value] : end.attributes) {
      write_attribute(id, name, value);
    }
    Hdf5Group engine(hdf5_check(H5Gopen2(id, "engine", H5P_DEFAULT), "open /engine"));
    for (const auto& [name, value] : end.engine) {
      write_attribute(engine.get(), name, value);
    }
    if (end.events) write_event_counts(id, *end.events);
    write_attribute(id, "complete", std::int32_t{1});
  });
}

}  // namespace proteus::io
