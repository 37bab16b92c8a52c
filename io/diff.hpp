// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "proteus/io/timeline_diff.hpp"

namespace proteus::io {

/// Told before something of a file is read: the file and the place in it.
using ReadObserver = std::function<void(const std::string& file, const std::string& path)>;

/// The comparison itself, in this process, of any two HDF5 files. Throws OutputError where one cannot be read.
std::vector<Difference> diff_timelines(const std::filesystem::path& a, const std::filesystem::path& b,
                                       std::size_t limit = 20, const ReadObserver& observer = nullptr);

}  // namespace proteus::io
