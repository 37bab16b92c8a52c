// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proteus/engine/transport.hpp"
#include "proteus/executor/folding.hpp"
#include "proteus/executor/simulation.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/partition/assignment.hpp"

namespace proteus::executor::testing {

using graph::Stream;
using graph::Traffic;
using graph::Wait;

/// Small jobs by hand: families, prices, phases.
struct JobBuilder {
  graph::Job job;
  cluster::Cluster cluster;

  JobBuilder(std::int64_t devices, int island_size) {
    job.devices = devices;
    job.island_size = island_size;
    cluster.node.gpus = island_size;
    cluster.node.nics = island_size;
    cluster.node.nic_bandwidth = {25e9};
    cluster.node.intra_bandwidth = {300e9};
    cluster.nodes = static_cast<int>((devices + island_size - 1) / island_size);
    job.program_of_stage = {0};
    job.stage_stride = devices;
  }

  std::uint32_t name(const std::string& text) {
    job.names.push_back(text);
    return static_cast<std::uint32_t>(job.names.size() - 1);
  }

  std::uint32_t family(const std::string& text, std::int64_t base, std::vector<graph::CommunicatorFamily::Axis> groups,
                       std::vector<graph::CommunicatorFamily::Axis> members) {
    job.families.push_back({text, base, std::move(groups), std::move(members)});
    return static_cast<std::uint32_t>(job.families.size() - 1);
  }

  /// `bandwidth` in bytes/s, `latency` in ps; `nic` and `nvlink` are the bytes per byte of size.
  std::uint32_t collective(std::uint32_t family, cost::Collective kind, std::int64_t size, Traffic traffic,
                           std::int64_t latency, double bandwidth, double nic = 0, double nvlink = 0) {
    graph::CollectiveUse use;
    use.family = family;
    use.kind = kind;
    use.size = {size};
    use.traffic = traffic;
    cost::CollectiveCost cost;
    cost.latency = Time::picoseconds(latency);
    cost.bandwidth = {bandwidth};
    cost.nic_bytes = nic;
    cost.nvlink_bytes = nvlink;
    const auto& f = job.families[family];
    for (std::int64_t g = 0; g < f.groups(); ++g) use.cost[f.placement(g, cluster.node.gpus)] = cost;
    job.collectives.push_back(use);
    return static_cast<std::uint32_t>(job.collectives.size() - 1);
  }

  static graph::ProgramOp compute(std::int64_t duration, std::vector<Wait> waits = {}, std::int64_t overlapped = 0,
                                  std::uint32_t host = 0) {
    graph::ProgramOp op;
    op.duration_ps = duration;
    op.overlapped_ps = std::max(duration, overlapped);
    op.host_ps = host;
    set_waits(op, waits);
    return op;
  }

  static graph::ProgramOp communicate(std::uint32_t collective, Stream stream, std::vector<Wait> waits = {},
                                      std::uint32_t host = 0) {
    graph::ProgramOp op;
    op.collective = collective;
    op.stream = stream;
    op.host_ps = host;
    set_waits(op, waits);
    return op;
  }

  static void set_waits(graph::ProgramOp& op, const std::vector<Wait>& waits) {
    op.wait_count = static_cast<std::uint8_t>(waits.size());
    std::copy(waits.begin(), waits.end(), op.waits.begin());
  }

  static graph::ProgramOp synchronizing(graph::ProgramOp op) {
    op.host_sync = true;
    return op;
  }

  std::uint32_t phase(const std::string& text, std::vector<graph::ProgramOp> ops) {
    graph::Phase phase;
    phase.name = text;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      graph::OpDescription description;
      description.name = name(text + "." + std::to_string(i));
      description.kind = name(ops[i].is_compute() ? "gemm" : "collective");
      phase.descriptions.push_back(description);
    }
    phase.ops = std::move(ops);
    job.phases.push_back(std::move(phase));
    return static_cast<std::uint32_t>(job.phases.size() - 1);
  }

  void program(std::vector<std::uint32_t> phases) {
    graph::Program program;
    program.name = "program " + std::to_string(job.programs.size());
    std::uint32_t micro_batch = 0;
    for (std::uint32_t p : phases) program.steps.push_back({p, micro_batch++});
    job.programs.push_back(std::move(program));
  }

  /// One program a stage; stages of `stride` devices.
  void stages(std::int64_t stride, std::int64_t count) {
    job.stage_stride = stride;
    job.stage_count = count;
    job.program_of_stage.clear();
    for (std::uint32_t s = 0; s < count; ++s) job.program_of_stage.push_back(s);
  }

  void finish() {
    for (auto& phase : job.phases) phase.finish();
    for (auto& program : job.programs) program.finish(job.phases);
  }
};

struct Row {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t end() const { return start + duration; }
  bool operator==(const Row&) const = default;
};
using Rows = std::map<std::pair<std::int64_t, std::int64_t>, Row>;  ///< by device and position

class Recorder final : public RowSink {
 public:
  bool wants(std::int64_t) const override { return true; }
  void record(std::int64_t device, std::int64_t position, Time start, Time duration) override {
    twice = !rows.emplace(std::pair(device, position), Row{start.ps(), duration.ps()}).second || twice;
  }
  Rows rows;
  bool twice = false;
};

struct Outcome {
  Result result;
  Rows rows;
  bool twice = false;
  std::uint64_t windows = 0;
  Row at(std::int64_t device, std::int64_t position) const { return rows.at({device, position}); }
};

struct How {
  int ranks = 0;  ///< 0: the sequential loop
  partition::Policy policy;
  std::uint64_t shuffle = 0;  ///< seed of a transport that disturbs; 0: none
  std::optional<FoldMode> fold = std::nullopt;
};

inline Outcome simulate(const JobBuilder& builder, Options options = {}, const How& how = {}) {
  auto objects = std::make_shared<const partition::Objects>(builder.job, builder.cluster);
  auto assignment = partition::assign(builder.job, objects, how.policy, std::max(1, how.ranks));
  Recorder recorder;
  std::optional<FoldedSink> folded;
  RowSink* sink = &recorder;
  if (how.fold) {
    options.folding = std::make_shared<const Folding>(builder.job, objects, options, *how.fold);
    assignment = options.folding->assign(std::max(1, how.ranks));
    sink = &folded.emplace(*objects, *options.folding, recorder);
  }
  std::vector<engine::LocalEngine> engines;
  for (int rank = 0; rank < assignment.ranks; ++rank) {
    engines.push_back(make_engine(builder.job, builder.cluster, options, assignment, rank, sink));
  }
  if (how.ranks == 0) {
    engine::run_sequential(engines.front(), {});
  } else {
    auto transport = how.shuffle == 0 ? engine::make_in_process_transport(how.ranks)
                                      : engine::make_shuffling_transport(how.ranks, how.shuffle);
    engine::run_windows(engines, *transport, {});
  }
  std::vector<Result> results;
  for (const auto& engine : engines) results.push_back(unpack(pack(collect(builder.job, engine))));
  return {merge(results), std::move(recorder.rows), recorder.twice, engines.front().statistics().windows};
}

/// Sum of all fields, in ps.
inline std::int64_t total(const Breakdown& b) {
  TimeSum sum = b.compute + b.bubble + b.skew + b.host + b.idle;
  for (TimeSum t : b.exposed) sum += t;
  return sum.ps();
}

}  // namespace proteus::executor::testing
