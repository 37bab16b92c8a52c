// SPDX-License-Identifier: Apache-2.0
#include "proteus/base/data_type.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace proteus {
namespace {

constexpr std::array kAll{DataType::fp32, DataType::tf32,  DataType::bf16,  DataType::fp16,
                          DataType::fp8,  DataType::int64, DataType::int32, DataType::uint8};

TEST(DataType, NamesReadBack) {
  std::set<std::string_view> names;
  for (DataType type : kAll) {
    EXPECT_EQ(data_type_from(name_of(type)), type) << name_of(type);
    names.insert(name_of(type));
  }
  EXPECT_EQ(names.size(), kAll.size());
}

TEST(DataType, KnowsTheNamesOfPyTorch) {
  EXPECT_EQ(data_type_from("float32"), DataType::fp32);
  EXPECT_EQ(data_type_from("bfloat16"), DataType::bf16);
  EXPECT_EQ(data_type_from("float16"), DataType::fp16);
  EXPECT_EQ(data_type_from("float8_e4m3fn"), DataType::fp8);
}

TEST(DataType, RefusesOtherNames) {
  for (std::string_view name : {"", "FP32", "fp3", "fp321", "double"}) EXPECT_EQ(data_type_from(name), std::nullopt);
}

TEST(DataType, SizesFollowTheNames) {
  EXPECT_EQ(size_of(DataType::fp32), 4);
  EXPECT_EQ(size_of(DataType::tf32), 4);
  EXPECT_EQ(size_of(DataType::bf16), 2);
  EXPECT_EQ(size_of(DataType::fp16), 2);
  EXPECT_EQ(size_of(DataType::fp8), 1);
  EXPECT_EQ(size_of(DataType::int64), 8);
  EXPECT_EQ(size_of(DataType::int32), 4);
  EXPECT_EQ(size_of(DataType::uint8), 1);
}

}  // namespace
}  // namespace proteus
