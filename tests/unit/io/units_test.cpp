// SPDX-License-Identifier: Apache-2.0
#include "units.hpp"

#include <gmock/gmock.h>

namespace proteus::io {
namespace {

template <class T>
T parsed(const std::string& text) {
  T result{};
  const QuantityProblem problem = parse_quantity(text, result);
  EXPECT_EQ(problem.problem, "") << text;
  return result;
}

template <class T>
std::string problem_of(const std::string& text) {
  T result{};
  return parse_quantity(text, result).problem;
}

TEST(Units, Times) {
  EXPECT_EQ(parsed<Time>("3 us").ps(), 3000000);
  EXPECT_EQ(parsed<Time>("1.5ms").ps(), 1500000000);
  EXPECT_EQ(parsed<Time>("1 ps").ps(), 1);
  EXPECT_EQ(parsed<Time>("0 s").ps(), 0);
  EXPECT_EQ(parsed<Time>("2e-3 s").ps(), 2000000000);
}

TEST(Units, BinaryAndDecimalBytesDiffer) {
  EXPECT_EQ(parsed<Bytes>("80 GiB").value, 85899345920);
  EXPECT_EQ(parsed<Bytes>("80 GB").value, 80000000000);
  EXPECT_EQ(parsed<Bytes>("0.75 GiB").value, 805306368);
}

TEST(Units, BitsAreAnEighthOfBytes) {
  EXPECT_DOUBLE_EQ(parsed<BytesPerSecond>("200 Gb/s").value, 25e9);
  EXPECT_DOUBLE_EQ(parsed<BytesPerSecond>("25 GB/s").value, 25e9);
}

TEST(Units, FlopRates) {
  EXPECT_DOUBLE_EQ(parsed<FlopPerSecond>("312 TFLOP/s").value, 312e12);
  EXPECT_DOUBLE_EQ(parsed<FlopPerSecond>("1.5EFLOP/s").value, 1.5e18);
}

TEST(Units, MissingUnitIsNamed) {
  EXPECT_EQ(problem_of<Time>("3"), "the unit is missing in `3`");
  EXPECT_EQ(problem_of<BytesPerSecond>("25 "), "the unit is missing in `25 `");
}

TEST(Units, UnitsOfAnotherQuantityAreUnknown) {
  EXPECT_EQ(problem_of<BytesPerSecond>("25 GB"), "unknown unit `GB`");
  EXPECT_EQ(problem_of<Bytes>("25 GB/s"), "unknown unit `GB/s`");
  EXPECT_EQ(problem_of<Time>("3 US"), "unknown unit `US`");
}

TEST(Units, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", "us", "010 us", "inf us", "nan us", "--1 us", ".5 us"}) {
    EXPECT_THAT(problem_of<Time>(text), testing::StartsWith("not a number with a unit")) << text;
  }
}

TEST(Units, WhatFollowsANumberMustBeAUnit) {
  EXPECT_EQ(problem_of<Time>("1,5 us"), "unknown unit `,5 us`");
  EXPECT_EQ(problem_of<Time>("0x10 us"), "unknown unit `x10 us`");
}

TEST(Units, RangesOfWholeCounts) {
  EXPECT_EQ(problem_of<Time>("-1 us"), "negative: `-1 us`");
  EXPECT_EQ(problem_of<Time>("0.2 ps"), "too small: `0.2 ps`");
  EXPECT_EQ(problem_of<Time>("1e300 s"), "too large: `1e300 s`");
  EXPECT_EQ(problem_of<Bytes>("1e30 TB"), "too large: `1e30 TB`");
}

TEST(Units, NumbersWithoutTraps) {
  EXPECT_EQ(integer_from("8"), 8);
  EXPECT_EQ(integer_from("-8"), -8);
  EXPECT_EQ(integer_from("0"), 0);
  for (const char* text : {"010", "8.0", "1e3", "", "-", "1_000", "0x8", " 8", "99999999999999999999"}) {
    EXPECT_EQ(integer_from(text), std::nullopt) << text;
  }
  EXPECT_EQ(number_from("1e3"), 1000.0);
  EXPECT_EQ(number_from("1e999"), std::nullopt);
}

TEST(Units, TextsReadBackToTheSameBits) {
  for (std::int64_t count : {0LL, 1LL, 999LL, 1000LL, 1001LL, 3000000LL, 1500000000LL, 86400000000000000LL}) {
    EXPECT_EQ(parsed<Time>(quantity_text(Time::picoseconds(count))).ps(), count);
    EXPECT_EQ(parsed<Bytes>(quantity_text(Bytes{count})).value, count);
  }
  for (double rate : {25e9, 12.5e9, 20.6e9, 1.0 / 3, 7e9 / 3, 1e30, 312e12, 66.9e12, 1978.9e12}) {
    EXPECT_EQ(parsed<BytesPerSecond>(quantity_text(BytesPerSecond{rate})).value, rate);
    EXPECT_EQ(parsed<FlopPerSecond>(quantity_text(FlopPerSecond{rate})).value, rate);
  }
  EXPECT_EQ(quantity_text(Bytes{85899345920}), "80 GiB");
  EXPECT_EQ(quantity_text(Time::picoseconds(3000000)), "3 us");
}

}  // namespace
}  // namespace proteus::io
