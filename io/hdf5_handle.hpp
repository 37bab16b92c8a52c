// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "proteus/base/error.hpp"

namespace proteus::io {

/// Owns one HDF5 identifier. What HDF5 says about a failed close is ignored: whoever must know flushes first.
template <herr_t (*close_identifier)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  ~Hdf5Handle() { reset(); }

  hid_t get() const { return id_; }
  bool is_open() const { return id_ >= 0; }
  void reset() {
    if (is_open()) {
      close_identifier(std::exchange(id_, H5I_INVALID_HID));
    }
  }
  /// Gives the identifier up without closing it. So a file has to be left that could not be written: HDF5 does not
  /// survive a close that fails, it goes on with freed memory. Nor may it close the file at exit (H5dont_atexit).
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using Hdf5File = Hdf5Handle<H5Fclose>;
using Hdf5Group = Hdf5Handle<H5Gclose>;
using Hdf5Object = Hdf5Handle<H5Oclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Attribute = Hdf5Handle<H5Aclose>;
using Hdf5Space = Hdf5Handle<H5Sclose>;
using Hdf5Type = Hdf5Handle<H5Tclose>;
using Hdf5PropertyList = Hdf5Handle<H5Pclose>;

/// Keeps HDF5 from printing its error stack, which goes into the exceptions instead, and restores what was set.
class Hdf5Quiet {
 public:
  Hdf5Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Hdf5Quiet(const Hdf5Quiet&) = delete;
  Hdf5Quiet& operator=(const Hdf5Quiet&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// The cause of the last failure as HDF5's innermost function gives it, in one line.
std::string hdf5_reason();

/// Returns what an HDF5 call returned, or throws OutputError where that is negative. `action`: "write /config".
template <typename Result>
Result hdf5_check(Result result, const std::string& action) {
  if (result < 0) {
    throw OutputError("cannot " + action + ": " + hdf5_reason());
  }
  return result;
}

}  // namespace proteus::io
