// SPDX-License-Identifier: Apache-2.0
#include "timeline_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "hdf5_handle.hpp"
#include "timeline_hdf5.hpp"

namespace proteus::io {
namespace {

using Shape = std::vector<hsize_t>;

class Check {
 public:
  Check(const std::filesystem::path& file, const ReadObserver& observer)
      : name_(file.string()), bytes_(std::filesystem::file_size(file)), observer_(observer) {}

  bool run() {
    reads("");
    file_ = Hdf5File(hdf5_check(H5Fopen(name_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open it"));
    if (text("/", "format") != "proteus-timeline") fail("/@format", "is another", "proteus-timeline");
    check_devices();
    check_rows();
    check_rest();
    return integer("/", "complete") == 1;
  }

 private:
  [[noreturn]] void fail(const std::string& path, const std::string& problem, const std::string& expected) const {
    throw InputError({name_, 0, 0}, path, problem, expected);
  }
  void reads(const std::string& path) const { observer_(name_, path); }

  Hdf5Attribute attribute(const std::string& object, const std::string& name) const {
    reads(object + "@" + name);
    return Hdf5Attribute(
        hdf5_check(H5Aopen_by_name(file_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "open it"));
  }

  void expect_scalar(const Hdf5Attribute& attribute, const std::string& path) const {
    const Hdf5Space space(hdf5_check(H5Aget_space(attribute.get()), "read its shape"));
    if (H5Sget_simple_extent_type(space.get()) != H5S_SCALAR) fail(path, "is no single value", "one");
  }

  std::int64_t integer(const std::string& object, const std::string& name) const {
    const Hdf5Attribute found = attribute(object, name);
    expect_scalar(found, object + "@" + name);
    const Hdf5Type type(hdf5_check(H5Aget_type(found.get()), "read its type"));
    if (H5Tget_class(type.get()) != H5T_INTEGER) fail(object + "@" + name, "is no integer", "an integer");
    std::int64_t value = 0;
    hdf5_check(H5Aread(found.get(), H5T_NATIVE_INT64, &value), "read it");
    return value;
  }

  std::string text(const std::string& object, const std::string& name) const {
    const Hdf5Attribute found = attribute(object, name);
    expect_scalar(found, object + "@" + name);
    const Hdf5Type type(hdf5_check(H5Aget_type(found.get()), "read its type"));
    if (H5Tis_variable_str(type.get()) <= 0) fail(object + "@" + name, "is no text", "a text");
    char* start = nullptr;
    hdf5_check(H5Aread(found.get(), text_type().get(), static_cast<void*>(&start)), "read it");
    std::string value = start == nullptr ? "" : start;
    H5free_memory(start);
    return value;
  }

  Hdf5Dataset open(const std::string& path) const {
    reads(path);
    return Hdf5Dataset(hdf5_check(H5Dopen2(file_.get(), path.c_str(), H5P_DEFAULT), "open it"));
  }

  Shape shape_of(const Hdf5Dataset& dataset) const {
    const Hdf5Space space(hdf5_check(H5Dget_space(dataset.get()), "read its shape"));
    Shape shape(static_cast<std::size_t>(hdf5_check(H5Sget_simple_extent_ndims(space.get()), "read its shape")));
    hdf5_check(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), "read its shape");
    return shape;
  }

  template <typename Number>
  void expect_type(const Hdf5Dataset& dataset, const std::string& path) const {
    const Hdf5Type type(hdf5_check(H5Dget_type(dataset.get()), "read its type"));
    if (hdf5_check(H5Tequal(type.get(), file_type<Number>()), "compare its type") == 0) {
      fail(path, "has another type", fmt::format("{} bytes a number", sizeof(Number)));
    }
  }

  template <typename Number>
  Hdf5Dataset column(const std::string& path, const Shape& wanted) const {
    Hdf5Dataset dataset = open(path);
    expect_type<Number>(dataset, path);
    const Shape shape = shape_of(dataset);
    if (shape != wanted) {
      fail(path, fmt::format("has shape ({})", fmt::join(shape, ", ")), fmt::format("({})", fmt::join(wanted, ", ")));
    }
    return dataset;
  }

  /// That what it claims to hold can be in the file; so nobody makes room for more, or reads it for hours.
  void expect_stored(const Hdf5Dataset& dataset, const std::string& path) const {
    const Hdf5PropertyList creation(hdf5_check(H5Dget_create_plist(dataset.get()), "read its layout"));
    const Hdf5Type type(hdf5_check(H5Dget_type(dataset.get()), "read its type"));
    const std::uint64_t element = H5Tget_size(type.get());
    const Shape shape = shape_of(dataset);
    if (H5Pget_layout(creation.get()) == H5D_CHUNKED) {
      Shape chunk(shape.size());
      const int dimensions = H5Pget_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
      bool fits = dimensions == static_cast<int>(shape.size()) && element <= sizeof(std::int64_t);
      for (std::size_t i = 0; i < shape.size(); ++i) fits = fits && chunk[i] >= 1 && chunk[i] <= shape[i];
      if (!fits) fail(path, "has chunks that do not fit it", "chunks no larger than itself");
      return;
    }
    std::uint64_t most = element == 0 ? 0 : bytes_ / element;
    for (const hsize_t size : shape) most = size == 0 ? 0 : most / size;
    const bool nothing = std::find(shape.begin(), shape.end(), hsize_t{0}) != shape.end();
    if (most < 1 && !nothing) {
      fail(path, fmt::format("has shape ({}) of {} bytes each", fmt::join(shape, ", "), element),
           fmt::format("no more than the {} bytes of the file", bytes_));
    }
  }

  void check_devices() {
    Hdf5Dataset devices = open("/devices/device");
    const Shape shape = shape_of(devices);
    if (shape.size() != 1) fail("/devices/device", "is no column", "one entry a device");
    devices_ = shape[0];
    for (const char* name : {"device", "node", "rows_done"}) {
      expect_stored(column<std::int64_t>(std::string("/devices/") + name, shape), std::string("/devices/") + name);
    }
    for (const char* name : {"class", "stage"}) {
      expect_stored(column<std::uint32_t>(std::string("/devices/") + name, shape), std::string("/devices/") + name);
    }
    const std::string path = "/devices/row_start";
    const Hdf5Dataset starts = open(path);
    const Shape segments = shape_of(starts);
    if (segments.size() != 2 || segments[1] != devices_) fail(path, "has another shape", "(segments, devices)");
    expect_type<std::int64_t>(starts, path);
    expect_stored(starts, path);
  }

  /// Rows of each class in the whole run.
  std::vector<hsize_t> rows_of_classes() const {
    reads("/programs");
    const Hdf5Group group(hdf5_check(H5Gopen2(file_.get(), "/programs", H5P_DEFAULT), "open it"));
    H5G_info_t info = {};
    hdf5_check(H5Gget_info(group.get(), &info), "list it");
    std::vector<hsize_t> rows;
    for (hsize_t number = 0; number < info.nlinks; ++number) {
      const std::string program = "/programs/" + std::to_string(number);
      const std::int64_t count = integer(program, "rows");
      const std::int64_t iterations = integer(program, "iterations");
      if (count < 0 || iterations < 1 || iterations != integer("/", "iterations")) {
        fail(program, fmt::format("has {} rows in {} iterations", count, iterations), "as many iterations as the run");
      }
      const Shape shape{static_cast<hsize_t>(count)};
      for (const char* name : {"op", "kind", "phase", "step", "micro_batch"}) {
        expect_stored(column<std::uint32_t>(program + "/" + name, shape), program + "/" + name);
      }
      hsize_t all = 0;
      if (__builtin_mul_overflow(shape[0], static_cast<hsize_t>(iterations), &all)) {
        fail(program, "has too many rows", "fewer than 2^64");
      }
      rows.push_back(all);
    }
    return rows;
  }

  void check_rows() {
    const std::vector<hsize_t> rows = rows_of_classes();
    std::vector<std::uint32_t> classes(devices_);
    const Hdf5Dataset column_of_classes = open("/devices/class");
    hdf5_check(H5Dread(column_of_classes.get(), H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, classes.data()),
               "read it");
    hsize_t all = 0;
    for (const std::uint32_t number : classes) {
      if (number >= rows.size()) {
        fail("/devices/class", fmt::format("names class {}", number), fmt::format("one of {}", rows.size()));
      }
      if (__builtin_add_overflow(all, rows[number], &all)) fail("/programs", "has too many rows", "fewer than 2^64");
    }
    const std::string level = text("/", "trace");
    if (level != "all" && level != "comm" && level != "summary") fail("/@trace", "is no level", "all, comm, summary");
    if (level == "summary") all = 0;
    for (const char* path : {"/timeline/start", "/timeline/duration"}) {
      const Hdf5Dataset dataset = column<std::int64_t>(path, {all});
      const Hdf5PropertyList creation(hdf5_check(H5Dget_create_plist(dataset.get()), "read its layout"));
      if (all > 0 && H5Pget_layout(creation.get()) != H5D_CHUNKED) fail(path, "is not chunked", "chunks");
      expect_stored(dataset, path);
    }
  }

  /// Every other dataset, whatever it is.
  void check_rest() {
    std::vector<std::string> paths;
    auto collect = [](hid_t, const char* name, const H5O_info_t* object, void* list) -> herr_t {
      if (object->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(list)->push_back(name);
      return 0;
    };
    reads("/");
    hdf5_check(H5Ovisit2(file_.get(), H5_INDEX_NAME, H5_ITER_INC, collect, &paths, H5O_INFO_BASIC), "list it");
    for (const std::string& path : paths) expect_stored(open("/" + path), "/" + path);
  }

  std::string name_;
  std::uint64_t bytes_;
  const ReadObserver& observer_;
  Hdf5File file_;
  hsize_t devices_ = 0;
};

}  // namespace

void expect_regular_file(const std::filesystem::path& file, const std::string& key) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(file, failure);
  if (!std::filesystem::exists(status)) throw InputError({file.string(), 0, 0}, key, failure.message(), "a timeline");
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError({file.string(), 0, 0}, key, "is no regular file", "a timeline");
  }
  if (::access(file.c_str(), R_OK) != 0) {
    throw InputError({file.string(), 0, 0}, key, std::strerror(errno), "a timeline");
  }
}

bool check_timeline(const std::filesystem::path& file, const ReadObserver& observer) {
  const Hdf5Quiet quiet;
  return Check(file, observer).run();
}

}  // namespace proteus::io
