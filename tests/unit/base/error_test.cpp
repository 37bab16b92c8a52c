// SPDX-License-Identifier: Apache-2.0
#include "proteus/base/error.hpp"

#include <gtest/gtest.h>

namespace proteus {
namespace {

TEST(InputError, SaysWhereWhatAndWhatInstead) {
  InputError error({"job.yaml", 12, 3}, "strategy.tensor", "is 3", "a divisor of 8");
  EXPECT_STREQ(error.what(), "job.yaml:12: strategy.tensor: is 3 (expected a divisor of 8)");
  EXPECT_EQ(error.where().file, "job.yaml");
  EXPECT_EQ(error.where().line, 12);
  EXPECT_EQ(error.where().column, 3);
  EXPECT_EQ(error.key(), "strategy.tensor");
  EXPECT_EQ(error.expected(), "a divisor of 8");
}

TEST(InputError, LeavesOutWhatIsUnknown) {
  EXPECT_STREQ(InputError({"job.yaml", 0, 0}, "model", "is missing", "").what(), "job.yaml: model: is missing");
  EXPECT_STREQ(InputError({}, "--ranks", "is 0", "1 or more").what(), "--ranks: is 0 (expected 1 or more)");
  EXPECT_STREQ(InputError({}, "", "nothing to do", "").what(), "nothing to do");
}

}  // namespace
}  // namespace proteus
