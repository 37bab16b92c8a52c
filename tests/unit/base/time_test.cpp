// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "proteus/base/time_sum.hpp"

namespace proteus {
namespace {

TEST(Time, BeyondWhatIsCountedIsInfinite) {
  EXPECT_EQ(Time::seconds(4.5e6).ps(), 4'500'000'000'000'000'000);
  EXPECT_TRUE(Time::seconds(4.7e6).is_infinite());
  EXPECT_TRUE(Time::seconds(std::numeric_limits<double>::infinity()).is_infinite());
  EXPECT_TRUE(Time::seconds(std::numeric_limits<double>::quiet_NaN()).is_infinite());
}

TEST(TimeSum, HoldsWhatManyDevicesTake) {
  const Time day = Time::seconds(86400);
  TimeSum sum;
  for (int device = 0; device < 1000; ++device) sum += day;
  EXPECT_EQ(sum, TimeSum(day) * 1000);
  EXPECT_DOUBLE_EQ(sum.to_seconds(), 8.64e7);
  EXPECT_THROW(sum.ps(), std::overflow_error);
  EXPECT_EQ(TimeSum::from_words(sum.high(), sum.low()), sum);
}

TEST(TimeSum, TakesAway) {
  const TimeSum less = TimeSum(Time::picoseconds(3)) - Time::picoseconds(5);
  EXPECT_LT(less, TimeSum{});
  EXPECT_EQ(less.ps(), -2);
  EXPECT_EQ(TimeSum::from_words(less.high(), less.low()), less);
}

}  // namespace
}  // namespace proteus
