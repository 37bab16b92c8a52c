// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/event_counts.hpp"
#include "diff.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "hdf5_reading.hpp"
#include "proteus/base/error.hpp"
#include "timeline_job.hpp"

namespace proteus::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* config = "model: {layers: 4, dims: [1, 2]}\nstrategy: {tp: 2}\nsimulate: {seed: 1}\n";

/// A job of islands alone, which the program of no device leaves.
struct Islands {
  graph::Job job;
  cluster::Cluster cluster;
  std::unique_ptr<const partition::Objects> objects;
  partition::CouplingGraph graph;

  explicit Islands(std::int64_t devices) {
    job.devices = devices;
    job.island_size = cluster.node.gpus = 4;
    cluster.nodes = static_cast<int>(devices / 4);
    job.program_of_stage = {0};
    job.programs.resize(1);
    objects = std::make_unique<const partition::Objects>(job, cluster);
    graph = partition::couplings(job, *objects);
  }
};

class EventCountsTest : public ::testing::Test {
 protected:
  /// Writes a run of two iterations.
  std::filesystem::path run(bool counted) {
    TimelineOptions options;
    options.file = scratch_ / "run.h5";
    options.level = TraceLevel::summary;
    const graph::Job job = two_class_job(8, 2, 1);
    TimelineWriter writer(options, {.resolved_config = config, .seed = 7, .version = "0.1.0", .engine = {}}, job,
                          {0, 1, 2, 3, 4, 5, 6, 7}, MPI_COMM_NULL);
    if (counted) writer.add_event_counts(event_counts(*islands_.objects, islands_.graph, {10, 30}));
    writer.close();
    return options.file;
  }

  std::string error(const std::filesystem::path& file, const Islands& here, const std::string& resolved) {
    try {
      measured_events(file, {*here.objects, here.graph, resolved, 1});
    } catch (const InputError& error) {
      return error.what();
    }
    return "no InputError";
  }

  Islands islands_{8};
  ScratchDirectory scratch_{std::string("events-") + ::testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(EventCountsTest, ComeBackInProportionToTheIterations) {
  const auto file = run(true);
  EXPECT_THAT(measured_events(file, {*islands_.objects, islands_.graph, config, 2}), ElementsAre(10, 30));
  EXPECT_THAT(measured_events(file, {*islands_.objects, islands_.graph, config, 5}), ElementsAre(25, 75));
  EXPECT_EQ(number_attribute(open_for(H5F_ACC_RDONLY, file), "/engine/process_events", "islands"), 2);
}

TEST_F(EventCountsTest, OfAnotherExperimentAreRefusedWithWhatDiffers) {
  const auto file = run(true);
  EXPECT_EQ(error(file, islands_, config), "no InputError");
  EXPECT_EQ(error(file, islands_, "model: {layers: 4, dims: [1, 2]}\nstrategy: {tp: 2}\nsimulate: {seed: 2}\n"),
            "no InputError");
  EXPECT_THAT(error(file, islands_, "model: {layers: 4, dims: [1, 2]}\nstrategy: {tp: 4}\n"),
              AllOf(StartsWith(file.string() + ": partition-from: "), HasSubstr("strategy.tp is 2 there and 4 here")));
  EXPECT_THAT(error(file, islands_, "model: {layers: 4, dims: [1, 3]}\nstrategy: {tp: 2}\n"),
              HasSubstr("model.dims[1] is 2 there and 3 here"));
  EXPECT_THAT(error(file, islands_, "model: {layers: 4, dims: [1]}\nstrategy: {tp: 2}\n"),
              HasSubstr("model.dims has 2 entries there and 1 here"));
  EXPECT_THAT(error(file, islands_, "model: {layers: 4}\nstrategy: {tp: 2}\n"), HasSubstr("model.dims is only there"));
  EXPECT_THAT(error(file, islands_, "model: {layers: 4, dims: [1, 2]}\nstrategy: {tp: 2, pp: 2}\n"),
              HasSubstr("strategy.pp is only here"));
  EXPECT_THAT(error(file, Islands(12), config), HasSubstr("it has 2 islands, but this experiment has 3"));
  Islands coupled(8);
  coupled.graph.edges.push_back({0, 1, 2, 1});
  EXPECT_THAT(error(file, coupled, config), HasSubstr("its logical processes are others: fingerprint "));
}

TEST_F(EventCountsTest, FilesWithoutThemAreRefused) {
  EXPECT_THAT(error(run(false), islands_, config), HasSubstr("it has no /engine/process_events"));
  EXPECT_THAT(error(scratch_ / "missing.h5", islands_, config), HasSubstr("No such file"));
  std::ofstream(scratch_ / "text.h5") << "no timeline";
  EXPECT_THAT(error(scratch_ / "text.h5", islands_, config), HasSubstr("cannot open it"));
}

TEST_F(EventCountsTest, DoNotMakeEqualRunsDiffer) {
  const auto counted = scratch_ / "counted.h5";
  std::filesystem::rename(run(true), counted);
  EXPECT_TRUE(diff_timelines(counted, run(false)).empty());
}

}  // namespace
}  // namespace proteus::io
