// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace proteus {

enum class DataType : std::uint8_t { fp32, tf32, bf16, fp16, fp8, int64, int32, uint8 };

/// Bytes that one element takes in memory.
constexpr int size_of(DataType type) {
  switch (type) {
    case DataType::fp32:
    case DataType::tf32:
    case DataType::int32:
      return 4;
    case DataType::bf16:
    case DataType::fp16:
      return 2;
    case DataType::fp8:
    case DataType::uint8:
      return 1;
    case DataType::int64:
      return 8;
  }
  return 0;
}

std::string_view name_of(DataType type);
std::optional<DataType> data_type_from(std::string_view name);

}  // namespace proteus
