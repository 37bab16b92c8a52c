// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/timeline.hpp"
#include "diff.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <numeric>

#include "hdf5_reading.hpp"
#include "proteus/base/error.hpp"
#include "timeline_job.hpp"

namespace proteus::io {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;

constexpr int kIterations = 3;
constexpr int kComputes = 4;
constexpr std::int64_t kDevices = 8;
constexpr std::int64_t kEverything = 1 << 20;

const TimelineHeader kHeader{
    .resolved_config = "model: größer\n", .seed = 7, .version = "0.1.0", .engine = {{"host", "here"}}};

std::vector<std::int64_t> range(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(last - first));
  std::iota(values.begin(), values.end(), first);
  return values;
}

class TimelineTest : public ::testing::Test {
 protected:
  TimelineTest() {
    options_.file = scratch_ / "run.h5";
    options_.segment_rows = 50;
  }

  TimelineWriter writer() { return TimelineWriter(options_, kHeader, job_, range(0, kDevices), MPI_COMM_NULL); }

  /// Where a row of the whole run must stand: the definition of the format, worked out the slow way.
  std::int64_t row_of(const std::vector<std::int64_t>& row_start, std::size_t devices, std::size_t index,
                      std::int64_t position, std::int64_t rows) const {
    const auto segments = static_cast<std::int64_t>(row_start.size() / devices);
    for (std::int64_t k = 0; k < segments; ++k) {
      if (position < (k + 1) * rows / segments) {
        return row_start[static_cast<std::size_t>(k) * devices + index] + position - k * rows / segments;
      }
    }
    return -1;
  }

  void record_all(TimelineWriter& writer) {
    for (std::int64_t device = 0; device < kDevices; ++device) {
      if (writer.wants(device)) {
        record_rows(writer, job_, device, 0, kEverything);
      }
    }
  }

  graph::Job job_ = two_class_job(kDevices, kIterations, kComputes);
  ScratchDirectory scratch_{std::string("timeline-") + ::testing::UnitTest::GetInstance()->current_test_info()->name()};
  TimelineOptions options_;
};

TEST_F(TimelineTest, EveryRowComesBackWhereItsSegmentDeviceAndPositionSay) {
  {
    TimelineWriter writer = this->writer();
    record_all(writer);
    writer.close();
  }
  EXPECT_FALSE(std::filesystem::exists(options_.file.string() + ".part"));
  Hdf5File file = open_for(H5F_ACC_RDONLY, options_.file);
  std::vector<std::int64_t> start = numbers(file, "/timeline/start");
  std::vector<std::int64_t> duration = numbers(file, "/timeline/duration");
  std::vector<std::int64_t> row_start = numbers(file, "/devices/row_start");
  const std::int64_t all_rows = 4 * 3 * 10 + 4 * 3 * 12;
  ASSERT_EQ(start.size(), all_rows);
  EXPECT_THAT(shape_of(file, "/devices/row_start"), ElementsAre((all_rows + 49) / 50, kDevices));
  std::vector<bool> seen(start.size());
  for (std::int64_t device = 0; device < kDevices; ++device) {
    for (std::int64_t position = 0; position < run_rows(job_, device); ++position) {
      auto row = static_cast<std::size_t>(
          row_of(row_start, kDevices, static_cast<std::size_t>(device), position, run_rows(job_, device)));
      EXPECT_EQ(start[row], start_of(device, position).ps());
      EXPECT_EQ(duration[row], duration_of(device, position).ps());
      seen[row] = true;
    }
  }
  EXPECT_THAT(seen, Each(true));
  EXPECT_THAT(numbers(file, "/devices/rows_done"), ElementsAre(30, 30, 36, 36, 30, 30, 36, 36));
}

TEST_F(TimelineTest, DescribesProgramsDevicesAndMemoryOnce) {
  TimelineWriter writer = this->writer();
  record_all(writer);
  writer.add_summary("step_time", {1.5, 1.25}, "s");
  writer.add_summary("devices/busy", {0.5}, "1");
  writer.add_attribute("state_hash", "abc");
  writer.add_engine("ranks", "1");
  writer.close();
  Hdf5File file = open_for(H5F_ACC_RDONLY, options_.file);
  EXPECT_EQ(text_attribute(file, "/", "format"), "proteus-timeline");
  EXPECT_EQ(text_attribute(file, "/", "format_version"), "0.9");
  EXPECT_EQ(text_attribute(file, "/", "version"), "0.1.0");
  EXPECT_EQ(text_attribute(file, "/", "trace"), "all");
  EXPECT_EQ(text_attribute(file, "/", "state_hash"), "abc");
  EXPECT_EQ(number_attribute(file, "/", "seed"), 7);
  EXPECT_EQ(number_attribute(file, "/", "complete"), 1);
  EXPECT_EQ(text_attribute(file, "/engine", "host"), "here");
  EXPECT_EQ(text_attribute(file, "/engine", "ranks"), "1");
  EXPECT_THAT(strings(file, "/config"), ElementsAre("model: größer\n"));
  EXPECT_EQ(strings(file, "/strings/op"), job_.names);
  EXPECT_THAT(strings(file, "/strings/phase"), ElementsAre("forward[0]", "forward[1]"));
  EXPECT_THAT(strings(file, "/strings/stream").size(), graph::stream_count);
  EXPECT_EQ(strings(file, "/strings/traffic")[3], name_of(graph::Traffic::pipeline));

  EXPECT_EQ(text_attribute(file, "/programs/1", "name"), "stage 1");
  EXPECT_EQ(number_attribute(file, "/programs/1", "rows"), 12);
  EXPECT_EQ(number_attribute(file, "/programs/1", "iterations"), kIterations);
  EXPECT_THAT(numbers(file, "/programs/1/op"), ElementsAre(2, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 3));
  EXPECT_THAT(numbers(file, "/programs/1/kind"), ElementsAre(2, 4, 4, 4, 4, 3, 2, 4, 4, 4, 4, 3));
  EXPECT_THAT(numbers(file, "/programs/1/micro_batch"), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(numbers(file, "/programs/1/step"), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(numbers(file, "/programs/1/phase"), Each(1));
  EXPECT_THAT(numbers(file, "/programs/1/traffic"), ElementsAre(3, -1, -1, -1, -1, 1, 3, -1, -1, -1, -1, 1));
  EXPECT_THAT(numbers(file, "/programs/0/communicator"), ElementsAre(-1, -1, -1, -1, 0, -1, -1, -1, -1, 0));
  EXPECT_THAT(numbers(file, "/programs/0/bytes"), ElementsAre(512, 512, 512, 512, 513, 512, 512, 512, 512, 513));
  EXPECT_EQ(numbers(file, "/programs/0/flops")[4], 2'000'000'000);

  EXPECT_THAT(numbers(file, "/devices/device"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(numbers(file, "/devices/class"), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(numbers(file, "/devices/stage"), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(numbers(file, "/devices/node"), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(numbers(file, "/devices/tp"), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(numbers(file, "/devices/pp"), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(numbers(file, "/devices/dp"), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(text_attribute(file, "/devices", "axes"), "tp,pp,dp");

  EXPECT_THAT(numbers(file, "/memory/1/after_step"), ElementsAre(900, 1001));
  EXPECT_EQ(number_attribute(file, "/memory/1", "peak"), 1001);
  EXPECT_THAT(strings(file, "/memory/1/largest_name"), ElementsAre("weights"));
  EXPECT_EQ(text_attribute(file, "/timeline/start", "unit"), "ps");
  EXPECT_EQ(number_attribute(file, "/timeline/start", "to_seconds"), 1e-12);
  EXPECT_EQ(text_attribute(file, "/summary/step_time", "unit"), "s");
  EXPECT_THAT(shape_of(file, "/summary/devices/busy"), ElementsAre(1));
}

TEST_F(TimelineTest, CommKeepsOnlyRowsOfCollectives) {
  options_.level = TraceLevel::comm;
  options_.segment_rows = 10;
  TimelineWriter writer = this->writer();
  record_all(writer);
  writer.close();
  Hdf5File file = open_for(H5F_ACC_RDONLY, options_.file);
  EXPECT_THAT(numbers(file, "/programs/0/op"), ElementsAre(1, 1));
  EXPECT_THAT(numbers(file, "/programs/1/op"), ElementsAre(2, 3, 2, 3));
  EXPECT_EQ(number_attribute(file, "/programs/1", "rows"), 4);
  std::vector<std::int64_t> start = numbers(file, "/timeline/start");
  std::vector<std::int64_t> row_start = numbers(file, "/devices/row_start");
  ASSERT_EQ(start.size(), 4 * 3 * 2 + 4 * 3 * 4);
  const std::vector<std::int64_t> kept = {0, 5, 6, 11};
  for (std::int64_t i = 0; i < 12; ++i) {
    auto row = static_cast<std::size_t>(row_of(row_start, kDevices, 6, i, 12));
    EXPECT_EQ(start[row], start_of(6, i / 4 * 12 + kept[static_cast<std::size_t>(i % 4)]).ps());
  }
}

TEST_F(TimelineTest, SummaryHasNoRowsButEverythingElse) {
  options_.level = TraceLevel::summary;
  TimelineWriter writer = this->writer();
  EXPECT_FALSE(writer.wants(0));
  EXPECT_EQ(writer.complete_segments(), 1);
  writer.add_summary("step_time", {2}, "s");
  writer.close();
  Hdf5File file = open_for(H5F_ACC_RDONLY, options_.file);
  EXPECT_THAT(shape_of(file, "/timeline/start"), ElementsAre(0));
  EXPECT_THAT(numbers(file, "/devices/rows_done"), Each(0));
  EXPECT_EQ(numbers(file, "/programs/1/op").size(), 12);
  EXPECT_THAT(numbers(file, "/summary/step_time"), ElementsAre(2));
}

TEST_F(TimelineTest, TracesTheWantedDevicesOnly) {
  options_.devices = {1, 6};
  TimelineWriter writer = this->writer();
  EXPECT_FALSE(writer.wants(0));
  EXPECT_TRUE(writer.wants(1));
  EXPECT_FALSE(writer.wants(7));
  EXPECT_THROW(writer.record(2, 0, Time::zero(), Time::zero()), SimulationError);
  record_all(writer);
  writer.close();
  Hdf5File file = open_for(H5F_ACC_RDONLY, options_.file);
  EXPECT_THAT(numbers(file, "/devices/device"), ElementsAre(1, 6));
  EXPECT_THAT(numbers(file, "/devices/rows_done"), ElementsAre(30, 36));
  EXPECT_EQ(numbers(file, "/timeline/start")[0], start_of(1, 0).ps());
}

TEST_F(TimelineTest, ASegmentIsCompleteWhenEveryDeviceHasPassedIt) {
  TimelineWriter writer = this->writer();
  for (std::int64_t device = 1; device < kDevices; ++device) {
    record_rows(writer, job_, device, 0, kEverything);
  }
  EXPECT_EQ(writer.complete_segments(), 0);
  EXPECT_THROW(writer.write_until(1), SimulationError);
  record_rows(writer, job_, 0, 0, 5);
  EXPECT_EQ(writer.complete_segments(), 1);
  record_rows(writer, job_, 0, 5, kEverything);
  EXPECT_EQ(writer.complete_segments(), 6);
}

TEST_F(TimelineTest, RefusesRowsThatCannotBe) {
  TimelineWriter writer = this->writer();
  record_rows(writer, job_, 0, 0, 1);
  EXPECT_THROW(record_rows(writer, job_, 0, 0, 1), SimulationError);
  EXPECT_THROW(writer.record(0, 30, Time::zero(), Time::zero()), SimulationError);
  EXPECT_THROW(writer.record(0, -1, Time::zero(), Time::zero()), SimulationError);
  EXPECT_THROW(writer.record(8, 0, Time::zero(), Time::zero()), SimulationError);
  for (std::int64_t device = 0; device < kDevices; ++device) {
    record_rows(writer, job_, device, device == 0 ? 1 : 0, 8);
  }
  writer.write_until(1);
  EXPECT_THROW(record_rows(writer, job_, 0, 0, 1), SimulationError);
  EXPECT_THROW(record_rows(writer, job_, 1, 4, 5), SimulationError);
}

TEST_F(TimelineTest, CloseWithoutAllRowsThrowsAndLeavesOnlyThePart) {
  {
    TimelineWriter writer = this->writer();
    record_rows(writer, job_, 0, 0, kEverything);
    EXPECT_THROW(writer.close(), SimulationError);
  }
  EXPECT_FALSE(std::filesystem::exists(options_.file));
  Hdf5File part = open_for(H5F_ACC_RDONLY, options_.file.string() + ".part");
  EXPECT_EQ(number_attribute(part, "/", "complete"), 0);
}

/// Runs `body` in a process of its own that ends by SIGKILL.
template <typename Body>
void kill_after(Body body) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(TimelineTest, APartOfAKilledRunSaysHowFarItGot) {
  for (bool compress : {true, false}) {
    options_.compress = compress;
    kill_after([&] {
      TimelineWriter writer = this->writer();
      for (std::int64_t device = 0; device < kDevices; ++device) {
        record_rows(writer, job_, device, 0, 20);
      }
      writer.write_until(3);
    });
    EXPECT_FALSE(std::filesystem::exists(options_.file));
    Hdf5File part = open_for(H5F_ACC_RDONLY, options_.file.string() + ".part");
    EXPECT_EQ(number_attribute(part, "/", "complete"), 0);
    EXPECT_EQ(number_attribute(part, "/programs/0", "rows"), 10);
    std::vector<std::int64_t> start = numbers(part, "/timeline/start");
    std::vector<std::int64_t> duration = numbers(part, "/timeline/duration");
    std::vector<std::int64_t> done = numbers(part, "/devices/rows_done");
    std::vector<std::int64_t> row_start = numbers(part, "/devices/row_start");
    ASSERT_EQ(start.size(), 264);
    // Three of six segments are 132 rows, of which whole chunks of 44 are stored.
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), std::int64_t{0}), 132);
    for (std::int64_t device = 0; device < kDevices; ++device) {
      auto index = static_cast<std::size_t>(device);
      for (std::int64_t position = 0; position < run_rows(job_, device); ++position) {
        auto row = static_cast<std::size_t>(row_of(row_start, kDevices, index, position, run_rows(job_, device)));
        bool written = position < done[index];
        EXPECT_EQ(start[row], written ? start_of(device, position).ps() : -1);
        EXPECT_EQ(duration[row], written ? duration_of(device, position).ps() : -1);
      }
    }
  }
}

TEST_F(TimelineTest, RowsOfAnUnfinishedChunkWaitForTheNextSegment) {
  options_.segment_rows = 60;
  options_.devices = {0, 1, 2, 3, 4, 5, 6};  // 228 rows in chunks of 57; segments end at 55, 114, 169 and 228
  const std::vector<std::int64_t> expected = {0, 114, 114};
  for (std::int64_t segments = 1; segments <= 3; ++segments) {
    kill_after([&] {
      TimelineWriter writer = this->writer();
      for (std::int64_t device = 0; device < 7; ++device) {
        record_rows(writer, job_, device, 0, 27);
      }
      for (std::int64_t until = 1; until <= segments; ++until) {
        writer.write_until(until);
      }
    });
    Hdf5File part = open_for(H5F_ACC_RDONLY, options_.file.string() + ".part");
    std::vector<std::int64_t> start = numbers(part, "/timeline/start");
    std::vector<std::int64_t> done = numbers(part, "/devices/rows_done");
    std::int64_t rows = expected[static_cast<std::size_t>(segments - 1)];
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), std::int64_t{0}), rows);
    EXPECT_THAT(std::vector(start.begin(), start.begin() + rows), Each(Ge(0)));
    EXPECT_THAT(std::vector(start.begin() + rows, start.end()), Each(-1));
  }
}

TEST_F(TimelineTest, CompressionChangesTheStorageAndNothingElse) {
  std::filesystem::path plain = scratch_ / "plain.h5";
  for (bool compress : {true, false}) {
    options_.compress = compress;
    options_.file = compress ? scratch_ / "deflate.h5" : plain;
    TimelineWriter writer = this->writer();
    record_all(writer);
    writer.close();
  }
  EXPECT_THAT(diff_timelines(plain, scratch_ / "deflate.h5"), ::testing::IsEmpty());
}

TEST_F(TimelineTest, WritingWhileTheRunGoesOnGivesTheSameFile) {
  options_.file = scratch_ / "at_once.h5";
  {
    TimelineWriter writer = this->writer();
    record_all(writer);
    writer.close();
  }
  options_.file = scratch_ / "step_by_step.h5";
  TimelineWriter writer = this->writer();
  for (std::int64_t position = 0; position < 36; ++position) {
    for (std::int64_t device = kDevices - 1; device >= 0; --device) {
      record_rows(writer, job_, device, position, position + 1);
    }
    writer.write_until(writer.complete_segments());
  }
  writer.close();
  EXPECT_THAT(diff_timelines(scratch_ / "at_once.h5", options_.file), ::testing::IsEmpty());
}

TEST_F(TimelineTest, SaysWhyAFileCannotBeWritten) {
  auto reason = [&](const std::filesystem::path& file) {
    options_.file = file;
    try {
      writer();
    } catch (const OutputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  std::ofstream(scratch_ / "plain") << "text";
  std::filesystem::create_directory(scratch_ / "directory");
  EXPECT_THAT(reason(scratch_ / "absent/run.h5"), AllOf(HasSubstr("absent"), HasSubstr("does not exist")));
  EXPECT_THAT(reason(scratch_ / "plain/run.h5"), HasSubstr("not a directory"));
  EXPECT_THAT(reason(scratch_ / "directory"), HasSubstr("is a directory"));
  EXPECT_THAT(reason("/proc/run.h5"), HasSubstr("/proc"));
}

TEST_F(TimelineTest, RefusesDevicesThatDoNotFit) {
  options_.devices = {3, 8};
  EXPECT_THROW(writer(), SimulationError);
  options_.devices = {3, 2};
  EXPECT_THROW(writer(), SimulationError);
  options_.devices = {};
  EXPECT_THROW(TimelineWriter(options_, kHeader, job_, {0, 1}, MPI_COMM_NULL), SimulationError);
}

}  // namespace
}  // namespace proteus::io
