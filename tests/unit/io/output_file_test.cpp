// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/output_file.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "proteus/base/error.hpp"
#include "timeline_job.hpp"

namespace proteus::io {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string refusal(const fs::path& file) {
  try {
    OutputFile output(file);
  } catch (const OutputError& error) {
    return error.what();
  }
  return "";
}

class OutputFileTest : public ::testing::Test {
 protected:
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator{}));
  }

  ScratchDirectory scratch_{std::string("output-") + ::testing::UnitTest::GetInstance()->current_test_info()->name()};
  fs::path file_ = scratch_ / "run.json";
};

TEST_F(OutputFileTest, IsThereWhenItIsWholeAndNothingElseIs) {
  {
    OutputFile output(file_);
    std::ofstream(output.part()) << "half";
    EXPECT_FALSE(fs::exists(file_));
    write_text(output, "all");
    EXPECT_EQ(read(file_), "all");
  }
  EXPECT_EQ(read(file_), "all");
  EXPECT_EQ(entries(), 1);
}

TEST_F(OutputFileTest, APartOfNoUseVanishesAndOneOfUseStays) {
  for (bool keep : {false, true}) {
    {
      OutputFile output(file_);
      std::ofstream(output.part()) << "half";
      output.keep_part(keep);
    }
    EXPECT_EQ(entries(), keep ? 1 : 0);
    EXPECT_EQ(fs::exists(OutputFile::part_of(file_)), keep);
  }
}

TEST_F(OutputFileTest, OfTwoWritersTheSecondIsRefused) {
  std::optional<OutputFile> first(file_);
  EXPECT_THAT(refusal(file_), AllOf(HasSubstr(file_.string()), HasSubstr("another run is writing it")));
  fs::create_symlink("run.json", scratch_ / "link");
  EXPECT_THAT(refusal(scratch_ / "link"), HasSubstr("another run is writing it"));
  first.reset();
  EXPECT_EQ(refusal(file_), "");
}

TEST_F(OutputFileTest, WhatADeadRunLeftIsReplaced) {
  std::ofstream(OutputFile::lock_of(file_));
  std::ofstream(OutputFile::part_of(file_)) << "dead";
  {
    OutputFile output(file_);
    write_text(output, "alive");
  }
  EXPECT_EQ(read(file_), "alive");
  EXPECT_EQ(entries(), 1);
}

TEST_F(OutputFileTest, LinksAreFollowed) {
  fs::create_directory(scratch_ / "elsewhere");
  fs::create_symlink("elsewhere/target", scratch_ / "link");
  fs::create_symlink("link", file_);
  for (const char* text : {"first", "second"}) {  // the target is not there yet, and is
    OutputFile output(file_);
    EXPECT_EQ(output.part(), scratch_ / "elsewhere/target.part");
    write_text(output, text);
    EXPECT_EQ(read(scratch_ / "elsewhere/target"), text);
  }
  EXPECT_TRUE(fs::is_symlink(file_));
  fs::create_symlink("round", scratch_ / "round");
  EXPECT_THAT(refusal(scratch_ / "round"), HasSubstr("symbolic links"));
}

TEST_F(OutputFileTest, RefusesWhatIsNoFile) {
  fs::create_directory(scratch_ / "directory");
  fs::create_directory(scratch_ / "part.part");
  EXPECT_THAT(refusal(scratch_ / "directory"), HasSubstr("it is a directory"));
  EXPECT_THAT(refusal(scratch_ / "part"), HasSubstr("part.part is a directory"));
  EXPECT_THAT(refusal(scratch_ / "directory/"), HasSubstr("a file name is missing"));
  EXPECT_THAT(refusal(""), HasSubstr("a file name is missing"));
  EXPECT_THAT(refusal(scratch_ / "absent/file"), HasSubstr("does not exist"));
}

TEST_F(OutputFileTest, TheFirstThatAbandonsItTellsSo) {
  OutputFile output(file_);
  std::ofstream(output.part()) << "half";
  EXPECT_TRUE(OutputFile::abandon(file_, true));
  EXPECT_TRUE(fs::exists(output.part()));
  EXPECT_FALSE(OutputFile::abandon(file_, false));
  EXPECT_FALSE(fs::exists(output.part()));
}

}  // namespace
}  // namespace proteus::io
