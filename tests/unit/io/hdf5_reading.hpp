// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hdf5_handle.hpp"

namespace proteus::io {

inline Hdf5File open_for(unsigned access, const std::filesystem::path& file) {
  return Hdf5File(hdf5_check(H5Fopen(file.c_str(), access, H5P_DEFAULT), "open"));
}

inline Hdf5Dataset dataset_of(const Hdf5File& file, const std::string& name) {
  return Hdf5Dataset(hdf5_check(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), "open " + name));
}

inline std::vector<hsize_t> shape_of(const Hdf5File& file, const std::string& name) {
  Hdf5Dataset dataset = dataset_of(file, name);
  Hdf5Space space(H5Dget_space(dataset.get()));
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
  return shape;
}

/// All values of a dataset of numbers, in storage order.
inline std::vector<std::int64_t> numbers(const Hdf5File& file, const std::string& name) {
  Hdf5Dataset dataset = dataset_of(file, name);
  Hdf5Space space(H5Dget_space(dataset.get()));
  std::vector<std::int64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  hdf5_check(H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read " + name);
  return values;
}

/// All values of a dataset of strings.
inline std::vector<std::string> strings(const Hdf5File& file, const std::string& name) {
  Hdf5Dataset dataset = dataset_of(file, name);
  Hdf5Space space(H5Dget_space(dataset.get()));
  Hdf5Type type(H5Dget_type(dataset.get()));
  std::vector<char*> texts(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  hdf5_check(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), "read " + name);
  std::vector<std::string> values(texts.begin(), texts.end());
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, texts.data());
  return values;
}

inline Hdf5Attribute attribute_of(const Hdf5File& file, const std::string& object, const std::string& name) {
  return Hdf5Attribute(
      hdf5_check(H5Aopen_by_name(file.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "open " + name));
}

inline double number_attribute(const Hdf5File& file, const std::string& object, const std::string& name) {
  double value = 0;
  hdf5_check(H5Aread(attribute_of(file, object, name).get(), H5T_NATIVE_DOUBLE, &value), "read " + name);
  return value;
}

inline std::string text_attribute(const Hdf5File& file, const std::string& object, const std::string& name) {
  Hdf5Attribute attribute = attribute_of(file, object, name);
  Hdf5Type type(H5Aget_type(attribute.get()));
  char* text = nullptr;
  hdf5_check(H5Aread(attribute.get(), type.get(), static_cast<void*>(&text)), "read " + name);
  std::string value = text;
  H5free_memory(text);
  return value;
}

}  // namespace proteus::io
