// SPDX-License-Identifier: Apache-2.0
#include "hdf5_handle.hpp"

#include <algorithm>
#include <cctype>

namespace proteus::io {
namespace {

/// Without line ends; of what the POSIX driver tells, which is a list of all it knows, what the system said.
std::string one_line(std::string text) {
  const std::string_view begin = "error message = '";
  if (const std::size_t at = text.find(begin); at != std::string::npos) {
    const std::size_t first = at + begin.size();
    return text.substr(first, text.find('\'', first) - first);
  }
  std::replace_if(
      text.begin(), text.end(), [](unsigned char letter) { return std::isspace(letter) != 0; }, ' ');
  return text;
}

}  // namespace

std::string hdf5_reason() {
  std::string reason;
  auto keep_first = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
    if (depth == 0 && error->desc != nullptr) {
      *static_cast<std::string*>(text) = error->desc;
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  return reason.empty() ? "HDF5 gives no reason" : one_line(reason);
}

}  // namespace proteus::io
