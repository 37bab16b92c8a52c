// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "proteus/base/error.hpp"

namespace proteus::io {
namespace {

namespace fs = std::filesystem;

// As many as Linux follows.
constexpr int most_links = 40;

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw OutputError(fmt::format("cannot write {}: {}", file.string(), why));
}

bool same_inode(int descriptor, const fs::path& file) {
  struct stat held = {};
  struct stat named = {};
  return ::fstat(descriptor, &held) == 0 && ::stat(file.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

}  // namespace

fs::path linked_file(const fs::path& file) {
  fs::path target = file;
  std::error_code ignored;
  for (int links = 0; fs::is_symlink(target, ignored); ++links) {
    if (links == most_links) fail(file, "too many levels of symbolic links");
    target = target.parent_path() / fs::read_symlink(target, ignored);
  }
  return target;
}

void check_output(const fs::path& file) {
  std::error_code ignored;
  if (!file.has_filename()) fail(file, "a file name is missing");
  const fs::path target = linked_file(file);
  const fs::path directory = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::exists(directory, ignored)) fail(file, fmt::format("directory {} does not exist", directory.string()));
  if (!fs::is_directory(directory, ignored)) fail(file, directory.string() + " is not a directory");
  for (const fs::path& name : {target, OutputFile::part_of(target), OutputFile::lock_of(target)}) {
    const std::string which = name == target ? "it" : name.string();
    if (fs::is_directory(name, ignored)) fail(file, which + " is a directory");
    if (fs::exists(name, ignored) && !fs::is_regular_file(name, ignored)) {
      fail(file, which + " exists and is no regular file");
    }
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    fail(file, "no permission to write in directory " + directory.string());
  }
}

OutputFile::OutputFile(const fs::path& file) : file_(linked_file(file)) {
  check_output(file);
  lock();
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!committed_ && !keep_part_) fs::remove(part(), ignored);
  // In this order nobody can lock a name that is about to vanish without seeing that it does.
  fs::remove(lock_of(file_), ignored);
  ::close(lock_);
}

fs::path OutputFile::part_of(const fs::path& file) { return file.string() + ".part"; }

// A file of its own: FILE.part is opened by HDF5 and by MPI-IO, which lock it in ways of their own.
fs::path OutputFile::lock_of(const fs::path& file) { return file.string() + ".lock"; }

void OutputFile::lock() {
  const fs::path name = lock_of(file_);
  constexpr mode_t everybody = 0666;  // less what umask says
  while (true) {
    lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, everybody);
    if (lock_ < 0) fail(file_, fmt::format("cannot create {}: {}", name.string(), std::strerror(errno)));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      // Some network file systems know no locks: then nobody can tell.
      if (error != EWOULDBLOCK) return;
      ::close(lock_);
      fail(file_, fmt::format("another run is writing it (it holds {})", name.string()));
    }
    // Who held it before may have removed it between the two calls.
    if (same_inode(lock_, name)) return;
    ::close(lock_);
  }
}

void OutputFile::commit() {
  std::error_code failure;
  fs::rename(part(), file_, failure);
  if (failure) fail(file_, fmt::format("cannot rename {}: {}", part().string(), failure.message()));
  committed_ = true;
}

bool OutputFile::abandon(const fs::path& file, bool keep_part) {
  const fs::path target = linked_file(file);
  std::error_code error;
  if (!keep_part) fs::remove(part_of(target), error);
  const bool first = fs::remove(lock_of(target), error);
  return first || error;
}

void write_text(OutputFile& file, const std::string& text) {
  const std::string part = file.part().string();
  constexpr mode_t everybody = 0666;
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everybody);
  if (descriptor < 0) fail(part, std::strerror(errno));
  int error = 0;
  for (std::size_t done = 0; done < text.size() && error == 0;) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) fail(part, std::strerror(error));
  file.commit();
}

}  // namespace proteus::io
