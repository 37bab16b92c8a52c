// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "timeline_file.hpp"
#include "timeline_hdf5.hpp"

namespace proteus::io {
namespace {

constexpr std::int8_t kNoTraffic = -1;
constexpr std::int32_t kNoCommunicator = -1;

/// What stands once for all devices of a class and all iterations, one entry a kept op.
struct ProgramColumns {
  std::vector<std::uint32_t> op, kind, phase, step, micro_batch;
  std::vector<std::uint8_t> stream;
  std::vector<std::int8_t> traffic;
  std::vector<std::int32_t> communicator;
  std::vector<std::int64_t> bytes;
  std::vector<double> flops;
};

ProgramColumns columns_of(const graph::Job& job, const graph::Program& program, TraceLevel level) {
  ProgramColumns columns;
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    const graph::Step& line = program.steps[step];
    const graph::Phase& phase = job.phases[line.phase];
    for (std::size_t i = 0; i < phase.ops.size(); ++i) {
      const graph::ProgramOp& op = phase.ops[i];
      if (!keeps_op(level, op)) {
        continue;
      }
      const graph::OpDescription& description = phase.descriptions[i];
      const graph::CollectiveUse* use = op.is_compute() ? nullptr : &job.collectives[op.collective];
      columns.op.push_back(description.name);
      columns.kind.push_back(description.kind);
      columns.phase.push_back(line.phase);
      columns.step.push_back(static_cast<std::uint32_t>(step));
      columns.micro_batch.push_back(line.micro_batch);
      columns.stream.push_back(static_cast<std::uint8_t>(op.stream));
      columns.traffic.push_back(use == nullptr ? kNoTraffic : static_cast<std::int8_t>(use->traffic));
      columns.communicator.push_back(use == nullptr ? kNoCommunicator : static_cast<std::int32_t>(use->family));
      columns.bytes.push_back(description.bytes);
      columns.flops.push_back(description.flops);
    }
  }
  return columns;
}

void write_program(hid_t parent, const std::string& number, const graph::Job& job, const graph::Program& program,
                   TraceLevel level) {
  Hdf5Group group = create_group(parent, number);
  ProgramColumns columns = columns_of(job, program, level);
  write_attribute(group.get(), "name", program.name);
  write_attribute(group.get(), "rows", static_cast<std::int64_t>(columns.op.size()));
  write_attribute(group.get(), "iterations", static_cast<std::int64_t>(job.iterations));
  auto write_index = [&](const char* name, const auto& values, const char* table) {
    write_attribute(write_column(group.get(), name, values).get(), "table", table);
  };
  write_index("op", columns.op, "/strings/op");
  write_index("kind", columns.kind, "/strings/op");
  write_index("phase", columns.phase, "/strings/phase");
  write_index("stream", columns.stream, "/strings/stream");
  write_index("traffic", columns.traffic, "/strings/traffic");
  write_index("communicator", columns.communicator, "/strings/communicator");
  write_column(group.get(), "step", columns.step);
  write_column(group.get(), "micro_batch", columns.micro_batch);
  write_attribute(write_column(group.get(), "bytes", columns.bytes).get(), "unit", "B");
  write_attribute(write_column(group.get(), "flops", columns.flops).get(), "unit", "FLOP");
}

void write_tables(hid_t file, const graph::Job& job) {
  Hdf5Group group = create_group(file, "strings");
  std::vector<std::string> phases, families, streams, traffic;
  std::ranges::transform(job.phases, std::back_inserter(phases), &graph::Phase::name);
  std::ranges::transform(job.families, std::back_inserter(families), &graph::CommunicatorFamily::name);
  for (int i = 0; i < graph::stream_count; ++i) {
    streams.emplace_back(name_of(static_cast<graph::Stream>(i)));
  }
  for (int i = 0; i < graph::traffic_count; ++i) {
    traffic.emplace_back(name_of(static_cast<graph::Traffic>(i)));
  }
  write_strings(group.get(), "op", job.names);
  write_strings(group.get(), "phase", phases);
  write_strings(group.get(), "stream", streams);
  write_strings(group.get(), "traffic", traffic);
  write_strings(group.get(), "communicator", families);
}

void write_memory(hid_t parent, const std::string& number, const graph::MemoryPlan& plan) {
  Hdf5Group group = create_group(parent, number);
  write_attribute(group.get(), "unit", "B");
  write_attribute(group.get(), "parameters", plan.parameters.value);
  write_attribute(group.get(), "gradients", plan.gradients.value);
  write_attribute(group.get(), "optimizer", plan.optimizer.value);
  write_attribute(group.get(), "activations", plan.activations.value);
  write_attribute(group.get(), "temporaries", plan.temporaries.value);
  write_attribute(group.get(), "communication", plan.communication.value);
  write_attribute(group.get(), "context", plan.context.value);
  write_attribute(group.get(), "peak", plan.peak.value);
  write_attribute(group.get(), "peak_phase", plan.peak_phase);
  write_attribute(group.get(), "peak_op", plan.peak_op);
  write_attribute(write_column(group.get(), "after_step", plan.after_step).get(), "unit", "B");
  std::vector<std::string> names;
  std::vector<std::int64_t> sizes;
  for (const auto& [name, size] : plan.largest) {
    names.push_back(name);
    sizes.push_back(size.value);
  }
  write_strings(group.get(), "largest_name", names);
  write_attribute(write_column(group.get(), "largest_bytes", sizes).get(), "unit", "B");
}

}  // namespace

void write_programs(hid_t file, const graph::Job& job, TraceLevel level) {
  write_tables(file, job);
  Hdf5Group programs = create_group(file, "programs");
  for (std::size_t i = 0; i < job.programs.size(); ++i) {
    write_program(programs.get(), std::to_string(i), job, job.programs[i], level);
  }
  Hdf5Group memory = create_group(file, "memory");
  for (std::size_t i = 0; i < job.memory.size(); ++i) {
    write_memory(memory.get(), std::to_string(i), job.memory[i]);
  }
}

}  // namespace proteus::io
