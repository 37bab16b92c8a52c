// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "diff.hpp"

namespace proteus::io {

/// HDF5 would wait for ever for the other end of a pipe. Throws InputError for `key` where `file` is no regular file
/// that can be read.
void expect_regular_file(const std::filesystem::path& file, const std::string& key);

/// Whether the run of a timeline has ended. Checks that everything has the type, the shape and the place that
/// docs/trace-format.md says, so that whoever reads it reads no more than there is. Throws InputError with the place
/// that is otherwise, OutputError where HDF5 cannot read it.
bool check_timeline(const std::filesystem::path& file, const ReadObserver& observer);

}  // namespace proteus::io
