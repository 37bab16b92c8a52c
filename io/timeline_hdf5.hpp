// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hdf5_handle.hpp"

namespace proteus::io {

/// The type that a number has in the file: little endian, so that files of all machines are equal.
template <typename Number>
hid_t file_type() {
  if constexpr (std::floating_point<Number>) {
    static_assert(sizeof(Number) == sizeof(double));
    return H5T_IEEE_F64LE;
  } else if constexpr (std::signed_integral<Number>) {
    return sizeof(Number) == 8 ? H5T_STD_I64LE : sizeof(Number) == 4 ? H5T_STD_I32LE : H5T_STD_I8LE;
  } else {
    return sizeof(Number) == 8 ? H5T_STD_U64LE : sizeof(Number) == 4 ? H5T_STD_U32LE : H5T_STD_U8LE;
  }
}

/// The same in memory.
template <typename Number>
hid_t memory_type() {
  if constexpr (std::floating_point<Number>) {
    return H5T_NATIVE_DOUBLE;
  } else if constexpr (std::signed_integral<Number>) {
    return sizeof(Number) == 8 ? H5T_NATIVE_INT64 : sizeof(Number) == 4 ? H5T_NATIVE_INT32 : H5T_NATIVE_INT8;
  } else {
    return sizeof(Number) == 8 ? H5T_NATIVE_UINT64 : sizeof(Number) == 4 ? H5T_NATIVE_UINT32 : H5T_NATIVE_UINT8;
  }
}

/// UTF-8 text of variable length, which h5py reads as str.
Hdf5Type text_type();

Hdf5Group create_group(hid_t parent, const std::string& name);

/// A dataset without storage options of its own. `name` may contain slashes; groups on the way are made.
Hdf5Dataset create_dataset(hid_t parent, const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
                           hid_t creation = H5P_DEFAULT);

/// Attributes replace one of the same name.
void write_attribute(hid_t object, const std::string& name, hid_t file, hid_t memory, const void* value);
void write_attribute(hid_t object, const std::string& name, const std::string& value);
template <typename Number>
requires std::integral<Number> || std::floating_point<Number>
void write_attribute(hid_t object, const std::string& name, Number value) {
  write_attribute(object, name, file_type<Number>(), memory_type<Number>(), &value);
}

template <typename Number>
Hdf5Dataset write_column(hid_t parent, const std::string& name, const std::vector<Number>& values) {
  Hdf5Dataset dataset = create_dataset(parent, name, file_type<Number>(), {values.size()});
  hdf5_check(H5Dwrite(dataset.get(), memory_type<Number>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
             "write " + name);
  return dataset;
}

Hdf5Dataset write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values);
Hdf5Dataset write_string(hid_t parent, const std::string& name, const std::string& value);

}  // namespace proteus::io
