// SPDX-License-Identifier: Apache-2.0
#include "proteus/base/data_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace proteus {
namespace {

using Name = std::pair<std::string_view, DataType>;

constexpr std::array<Name, 8> kNames{{{"fp32", DataType::fp32},
                                      {"tf32", DataType::tf32},
                                      {"bf16", DataType::bf16},
                                      {"fp16", DataType::fp16},
                                      {"fp8", DataType::fp8},
                                      {"int64", DataType::int64},
                                      {"int32", DataType::int32},
                                      {"uint8", DataType::uint8}}};

// PyTorch's spelling, which the config.json of Hugging Face models uses.
constexpr std::array<Name, 5> kTorchNames{{{"float32", DataType::fp32},
                                           {"bfloat16", DataType::bf16},
                                           {"float16", DataType::fp16},
                                           {"float8_e4m3fn", DataType::fp8},
                                           {"float8_e5m2", DataType::fp8}}};

template <std::size_t size>
std::optional<DataType> find(const std::array<Name, size>& names, std::string_view name) {
  auto found = std::ranges::find(names, name, &Name::first);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string_view name_of(DataType type) {
  auto found = std::ranges::find(kNames, type, &Name::second);
  return found == kNames.end() ? std::string_view() : found->first;
}

std::optional<DataType> data_type_from(std::string_view name) {
  auto found = find(kNames, name);
  return found ? found : find(kTorchNames, name);
}

}  // namespace proteus
