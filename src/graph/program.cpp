// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/program.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace proteus::graph {
namespace {

std::size_t at(Stream stream) { return static_cast<std::size_t>(stream); }

}  // namespace

std::string_view name_of(Stream stream) {
  switch (stream) {
    case Stream::compute:
      return "compute";
    case Stream::tensor:
      return "tensor";
    case Stream::gradient:
      return "gradient";
    case Stream::forward_send:
      return "forward-send";
    case Stream::forward_receive:
      return "forward-receive";
    case Stream::backward_send:
      return "backward-send";
    case Stream::backward_receive:
      return "backward-receive";
  }
  return "unknown";
}

std::string_view name_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::tensor:
      return "tensor";
    case Traffic::gradient:
      return "gradient";
    case Traffic::parameter:
      return "parameter";
    case Traffic::pipeline:
      return "pipeline";
    case Traffic::embedding:
      return "embedding";
    case Traffic::scalar:
      return "scalar";
  }
  return "unknown";
}

std::string_view name_of(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::forward:
      return "forward";
    case PhaseKind::backward:
      return "backward";
    case PhaseKind::input_gradient:
      return "input-gradient";
    case PhaseKind::weight_gradient:
      return "weight-gradient";
    case PhaseKind::epilogue:
      return "epilogue";
  }
  return "unknown";
}

void Phase::finish() {
  if (ops.size() > std::numeric_limits<std::uint16_t>::max())
    throw std::length_error("phase " + name + " has more ops than a 16-bit number can count");
  for (auto& numbers : by_stream) numbers.clear();
  host_before_ps.clear();
  syncs_before.clear();
  compute_before_ps.clear();
  compute_needed.clear();
  host_ps = 0;
  syncs = 0;
  compute_ps = 0;

  for (std::size_t i = 0; i < ops.size(); ++i) {
    const ProgramOp& op = ops[i];
    host_ps += op.host_ps;
    host_before_ps.push_back(host_ps);
    syncs_before.push_back(syncs);
    if (op.host_sync) ++syncs;

    // What the op in front of it on its stream needed, it needs too.
    auto& own = by_stream[at(op.stream)];
    std::int32_t needed = own.empty() ? -1 : compute_needed[own.back()];
    if (op.is_compute()) needed = static_cast<std::int32_t>(own.size());
    for (std::size_t w = 0; w < op.wait_count; ++w) {
      const Wait& wait = op.waits[w];
      if (wait.count == 0) {
        if (wait.stream == Stream::compute) needed = std::max(needed, 0);
        continue;
      }
      const auto& others = by_stream[at(wait.stream)];
      if (wait.count > others.size()) {
        throw std::logic_error("phase " + name + ": op " + std::to_string(i) + " waits for op " +
                               std::to_string(wait.count) + " of stream " + std::string(name_of(wait.stream)) +
                               ", which is issued behind it");
      }
      std::uint16_t other = others[wait.count - 1u];
      if (wait.stream == Stream::compute) {
        ops[other].signals = true;
        needed = std::max<std::int32_t>(needed, wait.count);
      } else {
        needed = std::max(needed, compute_needed[other]);
      }
    }
    compute_needed.push_back(needed);
    own.push_back(static_cast<std::uint16_t>(i));
    if (op.is_compute()) {
      compute_before_ps.push_back(compute_ps);
      compute_ps += op.duration_ps;
    }
  }
  compute_before_ps.push_back(compute_ps);
}

void Program::finish(const std::vector<Phase>& phases) {
  rows_before.assign(1, 0);
  host_before_ps.assign(1, 0);
  syncs_before.assign(1, 0);
  compute_before_ps.assign(1, 0);
  streams_before.assign(1, {});
  syncs.clear();
  for (std::uint32_t number = 0; number < steps.size(); ++number) {
    const Phase& phase = phases.at(steps[number].phase);
    for (std::size_t i = 0; i < phase.ops.size(); ++i) {
      if (phase.ops[i].host_sync) syncs.push_back({number, static_cast<std::uint16_t>(i)});
    }
    rows_before.push_back(rows_before.back() + static_cast<std::int64_t>(phase.ops.size()));
    host_before_ps.push_back(host_before_ps.back() + phase.host_ps);
    syncs_before.push_back(syncs_before.back() + phase.syncs);
    compute_before_ps.push_back(compute_before_ps.back() + phase.compute_ps);
    streams_before.push_back(streams_before.back());
    for (std::size_t s = 0; s < stream_count; ++s) {
      streams_before.back()[s] += static_cast<std::int64_t>(phase.by_stream[s].size());
    }
  }
}

const ProgramOp& op_at(const Job& job, const Program& program, std::int64_t position) {
  if (position < 0 || position >= program.rows() * job.iterations) throw std::out_of_range("no op at this position");
  const std::int64_t within = position % program.rows();
  const auto behind = std::upper_bound(program.rows_before.begin(), program.rows_before.end(), within);
  const auto step = static_cast<std::size_t>(behind - program.rows_before.begin() - 1);
  return job.phases[program.steps[step].phase].ops[static_cast<std::size_t>(within - program.rows_before[step])];
}

}  // namespace proteus::graph
