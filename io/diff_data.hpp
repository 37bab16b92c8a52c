// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hdf5_handle.hpp"

namespace proteus::io {

/// One side of a comparison: how to read a selection of a dataset or a whole attribute.
struct DataSource {
  hid_t type = H5I_INVALID_HID;  ///< as stored
  std::vector<hsize_t> shape;    ///< empty: a scalar
  /// Reads a block as `memory_type`; attributes are always read whole.
  std::function<void(hid_t memory_type, const std::vector<hsize_t>& first, const std::vector<hsize_t>& count,
                     void* values)>
      read;
  bool whole = false;  ///< can only be read at once
};

DataSource dataset_source(hid_t dataset, hid_t type, std::vector<hsize_t> shape);
DataSource attribute_source(hid_t attribute, hid_t type, std::vector<hsize_t> shape);

/// How the data of two sources of one type and one shape differ, in words; empty where they are equal. Reads blocks of
/// a few MiB. `unit` follows printed values.
std::string compare_data(const DataSource& a, const DataSource& b, const std::string& unit);

}  // namespace proteus::io
