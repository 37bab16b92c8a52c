// SPDX-License-Identifier: Apache-2.0
#include "disk_space.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <fstream>

#include "proteus/base/error.hpp"
#include "timeline_job.hpp"

namespace proteus::io {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::filesystem::path& file, std::uint64_t bytes) {
  try {
    reserve_space(file, bytes);
  } catch (const OutputError& error) {
    return error.what();
  }
  return "";
}

class DiskSpaceTest : public ::testing::Test {
 protected:
  ScratchDirectory scratch_{std::string("space-") + ::testing::UnitTest::GetInstance()->current_test_info()->name()};
  std::filesystem::path file_ = scratch_ / "file";
};

TEST_F(DiskSpaceTest, LeavesTheLengthOfTheFile) {
  std::ofstream(file_) << "text";
  reserve_space(file_, 1 << 20);
  EXPECT_EQ(std::filesystem::file_size(file_), 4);
  release_space(file_);
  EXPECT_EQ(std::filesystem::file_size(file_), 4);
}

TEST_F(DiskSpaceTest, RefusesWhatThereIsNoRoomFor) {
  std::ofstream(file_) << "text";
  struct rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(refusal(file_, (1 << 20) - 4), "");
  EXPECT_THAT(refusal(file_, (1 << 20) - 3), HasSubstr(file_.string() + ": File too large (1.0 MB more are needed)"));
  limit.rlim_cur = before;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_THAT(refusal(scratch_ / "absent", 1), HasSubstr("No such file"));
}

}  // namespace
}  // namespace proteus::io
