// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/timeline_diff.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <sstream>

#include "hdf5_reading.hpp"
#include "proteus/base/error.hpp"
#include "proteus/io/timeline.hpp"
#include "timeline_hdf5.hpp"
#include "timeline_job.hpp"

namespace proteus::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CompareTimelinesTest : public ::testing::Test {
 protected:
  CompareTimelinesTest() { write(file_, true); }

  void write(const std::filesystem::path& file, bool whole) {
    graph::Job job = two_class_job(8, 3, 4);
    std::vector<std::int64_t> devices(8);
    std::iota(devices.begin(), devices.end(), 0);
    TimelineWriter writer({.file = file, .devices = {}, .segment_rows = 50},
                          {.resolved_config = "model: a\n", .seed = 7, .version = "0.1.0", .engine = {}}, job, devices,
                          MPI_COMM_NULL);
    for (std::int64_t device : devices) record_rows(writer, job, device, 0, whole ? run_rows(job, device) : 20);
    if (whole) {
      writer.close();
    } else {
      writer.write_until(2);
    }
  }

  /// What is said of a file after `change`; "" where it is compared.
  std::string refusal(const std::function<void(const Hdf5File&)>& change) {
    std::filesystem::copy_file(file_, other_, std::filesystem::copy_options::overwrite_existing);
    {
      const Hdf5File file = open_for(H5F_ACC_RDWR, other_);
      change(file);
    }
    return refusal_of(other_);
  }

  std::string refusal_of(const std::filesystem::path& other) {
    try {
      compare_timelines(file_, other, 20);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  ScratchDirectory scratch_{std::string("compare-") + ::testing::UnitTest::GetInstance()->current_test_info()->name()};
  std::filesystem::path file_ = scratch_ / "a.h5";
  std::filesystem::path other_ = scratch_ / "b.h5";
};

/// Another dataset in the place of one.
void replace(const Hdf5File& file, const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
  hdf5_check(H5Ldelete(file.get(), name.c_str(), H5P_DEFAULT), "delete " + name);
  create_dataset(file.get(), name, type, shape);
}

TEST_F(CompareTimelinesTest, FindsWhatDiffersWhateverTheLimit) {
  EXPECT_THAT(compare_timelines(file_, file_, 20).differences, IsEmpty());
  std::filesystem::copy_file(file_, other_);
  {
    const Hdf5File file = open_for(H5F_ACC_RDWR, other_);
    write_attribute(file.get(), "seed", std::uint64_t{8});
    write_attribute(file.get(), "version", "0.2.0");
  }
  const auto all = compare_timelines(file_, other_, 20);
  ASSERT_EQ(all.differences.size(), 2);
  EXPECT_EQ(all.differences[0].path + ": " + all.differences[0].what, "/@seed: differs: 7 against 8");
  EXPECT_EQ(compare_timelines(file_, other_, 1).differences.size(), 1);
  EXPECT_EQ(compare_timelines(file_, other_, 0).differences.size(), 1);
}

TEST_F(CompareTimelinesTest, TellsWhichFilesAreNotComplete) {
  EXPECT_THAT(compare_timelines(file_, file_, 20).incomplete, IsEmpty());
  write(other_, false);
  const std::filesystem::path part = other_.string() + ".part";
  EXPECT_THAT(compare_timelines(file_, part, 20).incomplete, ElementsAre(part));
  EXPECT_THAT(compare_timelines(part, part, 20).differences, IsEmpty());
}

TEST_F(CompareTimelinesTest, RefusesWhatIsNoFileOfTimelines) {
  EXPECT_THAT(refusal_of(scratch_ / "absent"), AllOf(HasSubstr("absent"), HasSubstr("No such file")));
  EXPECT_THAT(refusal_of(scratch_.path()), HasSubstr("no regular file"));
  ASSERT_EQ(::mkfifo((scratch_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal_of(scratch_ / "pipe"), HasSubstr("no regular file"));
  std::ofstream(scratch_ / "text") << "not HDF5";
  EXPECT_THAT(refusal_of(scratch_ / "text"), HasSubstr((scratch_ / "text").string()));
  EXPECT_THAT(refusal([](const Hdf5File& file) { write_attribute(file.get(), "format", "another"); }),
              StartsWith(other_.string() + ": /@format: "));
}

TEST_F(CompareTimelinesTest, NamesTheDatasetThatIsNotAsDocumented) {
  const auto expect_named = [this](const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
    EXPECT_THAT(refusal([&](const Hdf5File& file) { replace(file, name, type, shape); }),
                StartsWith(other_.string() + ": " + name + ": "));
  };
  EXPECT_EQ(refusal([](const Hdf5File&) {}), "");
  expect_named("/devices/device", H5T_STD_I64LE, {4, 2});
  expect_named("/devices/node", H5T_STD_I64LE, {9});
  expect_named("/devices/class", H5T_STD_I64LE, {8});
  expect_named("/devices/row_start", H5T_STD_I64LE, {6, 7});
  expect_named("/programs/1/op", H5T_STD_U32LE, {3});
  expect_named("/timeline/start", H5T_STD_I64LE, {264});  // not chunked
  expect_named("/timeline/duration", H5T_STD_I64LE, {263});
  expect_named("/timeline/duration", H5T_IEEE_F64LE, {264});
  EXPECT_THAT(refusal([](const Hdf5File& file) { H5Ldelete(file.get(), "/timeline/start", H5P_DEFAULT); }),
              StartsWith(other_.string() + ": /timeline/start: "));
  EXPECT_THAT(refusal([](const Hdf5File& file) {
                const Hdf5Object program(H5Oopen(file.get(), "/programs/0", H5P_DEFAULT));
                write_attribute(program.get(), "rows", std::int64_t{11});
              }),
              StartsWith(other_.string() + ": /programs/0/op: has shape (10) (expected (11))"));
  EXPECT_THAT(refusal([](const Hdf5File& file) {
                const std::vector<std::uint32_t> classes(8, 2);
                H5Dwrite(dataset_of(file, "/devices/class").get(), H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                         classes.data());
              }),
              StartsWith(other_.string() + ": /devices/class: names class 2"));
}

TEST_F(CompareTimelinesTest, RefusesDatasetsThatClaimMoreThanTheFileHolds) {
  EXPECT_THAT(refusal([](const Hdf5File& file) {
                create_dataset(file.get(), "/summary/more", H5T_STD_I64LE, {hsize_t{1} << 40});
              }),
              StartsWith(other_.string() + ": /summary/more: has shape (1099511627776) of 8 bytes each"));
}

TEST_F(CompareTimelinesTest, EndsWithAWordWhateverTheDamage) {
  std::ostringstream text;
  text << std::ifstream(file_, std::ios::binary).rdbuf();
  const std::string whole = text.str();
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    std::string bytes = whole;
    const std::size_t at = random() % bytes.size();
    const std::size_t length = std::min<std::size_t>(bytes.size() - at, round % 3 == 0 ? 64 : 1);
    for (std::size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<char>(random());
    std::ofstream(other_, std::ios::binary) << bytes;
    const std::string said = refusal_of(other_);
    if (said.empty()) continue;
    ++refused;
    EXPECT_THAT(said, HasSubstr(other_.string())) << at;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_GT(refused, 15);
  std::ofstream(other_, std::ios::binary) << whole.substr(0, whole.size() / 2);
  EXPECT_THAT(refusal_of(other_), HasSubstr("truncated file"));
}

}  // namespace
}  // namespace proteus::io
