// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace proteus::io {

/// One place where two timelines differ.
struct Difference {
  std::string path;  ///< "/timeline/start"
  std::string what;  ///< "3 of 4096 values differ, first at row 17: 12 ps against 13 ps"
};

struct TimelineComparison {
  std::vector<Difference> differences;            ///< empty: equal
  std::vector<std::filesystem::path> incomplete;  ///< files whose run has not ended
};

/// Compares names, types, shapes, attributes and data of two timelines outside /engine. Stops after `limit`
/// differences, or one where that is 0. Whatever the files are it ends: both are checked against what
/// docs/trace-format.md says, and read in a process of its own, as HDF5 crashes on some damage. Throws InputError with
/// file and place where one is no timeline or is damaged. To be called before anything of HDF5.
TimelineComparison compare_timelines(const std::filesystem::path& a, const std::filesystem::path& b, std::size_t limit);

}  // namespace proteus::io
