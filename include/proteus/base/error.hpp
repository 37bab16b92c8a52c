// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace proteus {

/// Where in the user's input something stands. Lines and columns count from 1; 0 means unknown.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

/// The user's input is wrong: the program prints what() and ends with exit status 2.
/// what() reads "FILE:LINE: KEY: PROBLEM (EXPECTED ...)".
class InputError : public std::runtime_error {
 public:
  InputError(SourceLocation where, std::string key, const std::string& problem, std::string expected);

  const SourceLocation& where() const { return where_; }
  const std::string& key() const { return key_; }
  const std::string& expected() const { return expected_; }

 private:
  SourceLocation where_;
  std::string key_;
  std::string expected_;
};

/// The simulation cannot go on (deadlock, broken promise, lost message): exit status 1.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The simulation was told to stop before its end: exit status 75 (sysexits EX_TEMPFAIL).
class StoppedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file cannot be written or read: exit status 73 (sysexits EX_CANTCREAT).
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace proteus
