// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "proteus/graph/program.hpp"
#include "proteus/io/timeline.hpp"

namespace proteus::io {

/// A directory of its own for the files of one test of one process.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("proteus-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Two stages with two programs of different length: `computes` compute ops and one send or receive a phase, each phase
/// run twice an iteration; the second stage has an all-reduce more. The mesh is tp 2, pp 2, dp the rest.
inline graph::Job two_class_job(std::int64_t devices, int iterations, int computes) {
  graph::Job job;
  job.devices = devices;
  job.island_size = 4;
  job.iterations = iterations;
  job.names = {"layers[0].qkv", "send", "receive", "all-reduce", "linear.forward", "grüße"};
  job.families.push_back({.name = "pp", .base = 0, .group_axes = {}, .member_axes = {}});
  job.families.push_back({.name = "dp", .base = 0, .group_axes = {}, .member_axes = {}});
  job.collectives.push_back({.family = 0, .size = Bytes{4096}, .traffic = graph::Traffic::pipeline, .cost = {}});
  job.collectives.push_back({.family = 1, .size = Bytes{65536}, .traffic = graph::Traffic::gradient, .cost = {}});
  for (std::uint32_t stage = 0; stage < 2; ++stage) {
    graph::Phase phase;
    phase.name = stage == 0 ? "forward[0]" : "forward[1]";
    auto add = [&](std::uint32_t collective, graph::Stream stream, std::uint32_t name) {
      graph::ProgramOp op;
      op.collective = collective;
      op.stream = stream;
      phase.ops.push_back(op);
      phase.descriptions.push_back(
          {.name = name, .kind = name == 0 ? 4 : name, .flops = 1e9 * (name + 1), .bytes = 512 + name});
    };
    if (stage == 1) {
      add(0, graph::Stream::forward_receive, 2);
    }
    for (int i = 0; i < computes; ++i) {
      add(graph::no_collective, graph::Stream::compute, 0);
    }
    if (stage == 0) {
      add(0, graph::Stream::forward_send, 1);
    } else {
      add(1, graph::Stream::gradient, 3);
    }
    const auto length = static_cast<std::int64_t>(phase.ops.size());
    job.phases.push_back(phase);
    graph::Program program;
    program.name = "stage " + std::to_string(stage);
    program.steps = {{stage, 0}, {stage, 1}};
    program.rows_before = {0, length, 2 * length};
    job.programs.push_back(program);
    graph::MemoryPlan plan;
    plan.peak = Bytes{1000 + stage};
    plan.peak_phase = phase.name;
    plan.largest = {{"weights", Bytes{700}}};
    plan.after_step = {900, 1000 + stage};
    job.memory.push_back(plan);
  }
  job.stage_stride = 2;
  job.stage_count = 2;
  job.program_of_stage = {0, 1};
  job.mesh = {{"tp", 2}, {"pp", 2}, {"dp", devices / 4}};
  return job;
}

/// The made-up result of each row, so that it can be told from every other.
inline Time start_of(std::int64_t device, std::int64_t position) { return Time::picoseconds(position * 1000 + device); }
inline Time duration_of(std::int64_t device, std::int64_t position) {
  return Time::picoseconds(500 + (position * 7 + device) % 13);
}

inline std::int64_t run_rows(const graph::Job& job, std::int64_t device) {
  return job.programs[job.class_of(device)].rows() * job.iterations;
}

/// Records positions [first, last) of `device`, or those of them that its program has.
inline void record_rows(TimelineWriter& writer, const graph::Job& job, std::int64_t device, std::int64_t first,
                        std::int64_t last) {
  for (std::int64_t position = first; position < std::min(last, run_rows(job, device)); ++position) {
    writer.record(device, position, start_of(device, position), duration_of(device, position));
  }
}

}  // namespace proteus::io
