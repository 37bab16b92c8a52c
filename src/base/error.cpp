// SPDX-License-Identifier: Apache-2.0
#include "proteus/base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace proteus {
namespace {

// Whatever is unknown is left out, so that no message shows an empty field or a line zero.
std::string message(const SourceLocation& where, const std::string& key, const std::string& problem,
                    const std::string& expected) {
  std::string text;
  if (!where.file.empty()) {
    text += where.line > 0 ? fmt::format("{}:{}: ", where.file, where.line) : fmt::format("{}: ", where.file);
  }
  if (!key.empty()) text += fmt::format("{}: ", key);
  text += problem;
  if (!expected.empty()) text += fmt::format(" (expected {})", expected);
  return text;
}

}  // namespace

InputError::InputError(SourceLocation where, std::string key, const std::string& problem, std::string expected)
    : std::runtime_error(message(where, key, problem, expected)),
      where_(std::move(where)),
      key_(std::move(key)),
      expected_(std::move(expected)) {}

}  // namespace proteus
