// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "../../io/diff.hpp"
#include "../unit/io/timeline_job.hpp"
#include "proteus/base/error.hpp"
#include "proteus/io/timeline.hpp"

namespace proteus::io {
namespace {

constexpr std::int64_t kDevices = 24;

enum class Spread { blocks, pairs_in_turn, all_on_the_last };

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks_of_world() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::vector<std::int64_t> devices_of_rank(Spread spread) {
  std::vector<std::int64_t> devices;
  const int size = ranks_of_world();
  for (std::int64_t device = 0; device < kDevices; ++device) {
    std::int64_t owner = spread == Spread::blocks          ? device * size / kDevices
                         : spread == Spread::pairs_in_turn ? device / 2 % size
                                                           : size - 1;
    if (owner == rank_of_world()) {
      devices.push_back(device);
    }
  }
  return devices;
}

/// The directory is rank 0's; nobody uses it before it is there or after it is gone.
class TimelineMpiTest : public ::testing::Test {
 protected:
  TimelineMpiTest() {
    std::string path;
    if (rank_of_world() == 0) {
      scratch_.emplace("timeline-mpi");
      path = scratch_->path().string();
    }
    auto length = static_cast<int>(path.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    path.resize(static_cast<std::size_t>(length));
    MPI_Bcast(path.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    directory_ = path;
    options_.segment_rows = 70;
  }
  ~TimelineMpiTest() override { MPI_Barrier(MPI_COMM_WORLD); }

  void write_alone(const std::string& name) {
    options_.file = directory_ / name;
    if (rank_of_world() == 0) {
      std::vector<std::int64_t> all;
      for (std::int64_t device = 0; device < kDevices; ++device) {
        all.push_back(device);
      }
      TimelineWriter writer(options_, {.resolved_config = "x", .seed = 1, .version = "0.1.0", .engine = {}}, job_, all,
                            MPI_COMM_NULL);
      record(writer, all, 0, kEverything);
      writer.add_summary("step_time", {1, 2}, "s");
      writer.close();
    }
  }

  void write_together(const std::string& name, Spread spread) {
    options_.file = directory_ / name;
    std::vector<std::int64_t> mine = devices_of_rank(spread);
    const std::string host = std::string(static_cast<std::size_t>(rank_of_world() + 1), 'h');
    TimelineWriter writer(options_, {.resolved_config = "x", .seed = 1, .version = "0.1.0", .engine = {{"host", host}}},
                          job_, mine, MPI_COMM_WORLD);
    for (std::int64_t position = 0; position < 60; position += 7) {
      record(writer, mine, position, position + 7);
      std::int64_t complete = writer.complete_segments();
      MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
      writer.write_until(complete);
    }
    writer.add_summary("step_time", {1, 2}, "s");
    writer.add_engine("time in events", std::to_string(rank_of_world()));
    writer.close();
  }

  void record(TimelineWriter& writer, const std::vector<std::int64_t>& devices, std::int64_t first, std::int64_t last) {
    for (std::int64_t device : devices) {
      if (writer.wants(device)) {
        record_rows(writer, job_, device, first, last);
      }
    }
  }

  void expect_equal(const std::string& a, const std::string& b) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (const Difference& difference : diff_timelines(directory_ / a, directory_ / b)) {
      ADD_FAILURE() << difference.path << ": " << difference.what;
    }
    EXPECT_FALSE(std::filesystem::exists(directory_ / (b + ".part")));
  }

  static constexpr std::int64_t kEverything = 1 << 20;
  graph::Job job_ = two_class_job(kDevices, 5, 4);
  std::optional<ScratchDirectory> scratch_;
  std::filesystem::path directory_;
  TimelineOptions options_;
};

TEST_F(TimelineMpiTest, ManyRanksWriteTheFileOfOneProcess) {
  for (TraceLevel level : {TraceLevel::all, TraceLevel::comm, TraceLevel::summary}) {
    for (bool compress : {true, false}) {
      options_.level = level;
      options_.compress = compress;
      write_alone("alone.h5");
      write_together("blocks.h5", Spread::blocks);
      expect_equal("alone.h5", "blocks.h5");
      write_together("pairs.h5", Spread::pairs_in_turn);
      expect_equal("alone.h5", "pairs.h5");
    }
  }
}

TEST_F(TimelineMpiTest, RanksWithoutDevicesTakePart) {
  write_alone("alone.h5");
  write_together("last.h5", Spread::all_on_the_last);
  expect_equal("alone.h5", "last.h5");
}

TEST_F(TimelineMpiTest, OneSegmentOfTheWholeRun) {
  options_.segment_rows = kEverything;
  write_alone("alone.h5");
  write_together("pairs.h5", Spread::pairs_in_turn);
  expect_equal("alone.h5", "pairs.h5");
}

TEST_F(TimelineMpiTest, EveryRankHearsOfAFailureOfTheFirst) {
  options_.file = directory_ / "absent" / "run.h5";
  try {
    TimelineWriter writer(options_, {}, job_, devices_of_rank(Spread::blocks), MPI_COMM_WORLD);
    FAIL() << "wrote into a directory that is not there";
  } catch (const OutputError& error) {
    EXPECT_NE(std::string(error.what()).find("does not exist"), std::string::npos);
  }
}

TEST_F(TimelineMpiTest, AnExceptionOfAllRanksLeavesAReadablePart) {
  options_.file = directory_ / "run.h5";
  std::vector<std::int64_t> mine = devices_of_rank(Spread::blocks);
  try {
    TimelineWriter writer(options_, {}, job_, mine, MPI_COMM_WORLD);
    record(writer, mine, 0, 20);
    std::int64_t complete = writer.complete_segments();
    MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_GT(complete, 0);
    writer.write_until(complete);
    throw std::runtime_error("the run broke");
  } catch (const std::runtime_error&) {
    EXPECT_FALSE(std::filesystem::exists(options_.file));
    std::filesystem::path part = options_.file.string() + ".part";
    EXPECT_TRUE(diff_timelines(part, part).empty());
  }
}

}  // namespace
}  // namespace proteus::io

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  if (proteus::io::rank_of_world() != 0) {
    delete ::testing::UnitTest::GetInstance()->listeners().Release(
        ::testing::UnitTest::GetInstance()->listeners().default_result_printer());
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
