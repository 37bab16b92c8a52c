// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace proteus::io {

/// What `file` stands for: symbolic links are followed, also where nothing is at their end yet. Throws OutputError
/// where they lead round.
std::filesystem::path linked_file(const std::filesystem::path& file);

/// Throws OutputError where `file` could not be written: asked before a run rather than after it.
void check_output(const std::filesystem::path& file);

/// A file that is FILE.part until it is whole and FILE afterwards; FILE is what a link stands for. While the object
/// lives FILE.lock is held: of two runs that would write the same file the later one is refused. One process of a run
/// has it.
class OutputFile {
 public:
  /// Throws OutputError where the file could not be written or another process writes it.
  explicit OutputFile(const std::filesystem::path& file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  static std::filesystem::path part_of(const std::filesystem::path& file);
  static std::filesystem::path lock_of(const std::filesystem::path& file);

  std::filesystem::path part() const { return part_of(file_); }
  /// Whether FILE.part is of use to somebody where it never gets whole. It is not, until this says so.
  void keep_part(bool keep) { keep_part_ = keep; }
  /// Renames FILE.part to FILE. Throws OutputError.
  void commit();

  /// For a process of a run that ends at once: does what the destructor of the run's object for `file`, in another
  /// process, will not come to do. Returns whether it was the first to do so.
  static bool abandon(const std::filesystem::path& file, bool keep_part);

 private:
  void lock();

  std::filesystem::path file_;
  int lock_ = -1;
  bool keep_part_ = false;
  bool committed_ = false;
};

/// Writes and commits a text. Throws OutputError.
void write_text(OutputFile& file, const std::string& text);

}  // namespace proteus::io
