// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "proteus/base/error.hpp"

namespace proteus::engine {

/// Puts numbers and texts one after the other.
class TextWriter {
 public:
  void number(std::uint64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text_.append(bytes, sizeof value);
  }
  void string(const std::string& value) {
    number(value.size());
    text_ += value;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Takes them out again. Throws SimulationError where there is less than expected.
class TextReader {
 public:
  explicit TextReader(const std::string& text) : text_(text) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string string() {
    std::size_t size = number();
    return std::string(take(size), size);
  }

 private:
  const char* take(std::size_t size) {
    if (size > text_.size() - position_) throw SimulationError("the report of a rank arrived incomplete");
    position_ += size;
    return text_.data() + (position_ - size);
  }

  const std::string& text_;
  std::size_t position_ = 0;
};

}  // namespace proteus::engine
