// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace proteus::io {

/// Has the file system set `bytes` behind the end of `file` aside, so that writing them cannot meet a full disk. Where
/// it cannot do so, looks whether as much is free. Throws OutputError.
void reserve_space(const std::filesystem::path& file, std::uint64_t bytes);

/// Gives back what was set aside and not used.
void release_space(const std::filesystem::path& file);

}  // namespace proteus::io
