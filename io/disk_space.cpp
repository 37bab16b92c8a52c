// SPDX-License-Identifier: Apache-2.0
#include "disk_space.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "proteus/base/error.hpp"

namespace proteus::io {
namespace {

int opened(const std::filesystem::path& file) { return ::open(file.c_str(), O_WRONLY | O_CLOEXEC); }

/// 0, or why not.
int set_aside(int descriptor, std::uint64_t bytes) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return errno;
  struct rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < static_cast<std::uint64_t>(status.st_size) + bytes) {
    return EFBIG;
  }
  int error = 0;
  do {
    error = ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, status.st_size, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error != EOPNOTSUPP && error != ENOSYS && error != EINVAL) return error;
  struct statvfs system = {};
  if (::fstatvfs(descriptor, &system) != 0) return 0;
  return std::uint64_t{system.f_bavail} * system.f_frsize < bytes ? ENOSPC : 0;
}

}  // namespace

void reserve_space(const std::filesystem::path& file, std::uint64_t bytes) {
  if (bytes == 0) return;
  const int descriptor = opened(file);
  const int error = descriptor < 0 ? errno : set_aside(descriptor, bytes);
  if (descriptor >= 0) ::close(descriptor);
  if (error == 0) return;
  throw OutputError(fmt::format("cannot write {}: {} ({:.1f} MB more are needed)", file.string(), std::strerror(error),
                                static_cast<double>(bytes) * 1e-6));
}

void release_space(const std::filesystem::path& file) {
  const int descriptor = opened(file);
  if (descriptor < 0) return;
  struct stat status = {};
  // Cutting a file to its own length frees what lies behind it. What stays is lost to nobody but this file.
  if (::fstat(descriptor, &status) == 0 && ::ftruncate(descriptor, status.st_size) != 0) errno = 0;
  ::close(descriptor);
}

}  // namespace proteus::io
