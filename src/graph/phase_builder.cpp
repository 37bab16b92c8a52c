// SPDX-License-Identifier: Apache-2.0
#include "phase_builder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "limits.hpp"

namespace proteus::graph {

std::uint32_t Names::operator()(const std::string& name) {
  auto [entry, fresh] = numbers_.emplace(name, static_cast<std::uint32_t>(job_.names.size()));
  if (fresh) job_.names.push_back(name);
  return entry->second;
}

PhaseBuilder::PhaseBuilder(std::string name, PhaseKind kind, int chunk, const strategy::Runtime& runtime,
                           Collectives& collectives, Names& names)
    : runtime_(runtime), collectives_(collectives), names_(names) {
  phase_.name = std::move(name);
  phase_.kind = kind;
  phase_.chunk = chunk;
}

void PhaseBuilder::add_waits(ProgramOp& op, const std::vector<Ready>& inputs) const {
  std::array<int, stream_count> needed;
  needed.fill(-1);
  for (const Ready& input : inputs) {
    if (input.always || input.stream == op.stream) continue;
    int& count = needed[static_cast<std::size_t>(input.stream)];
    count = std::max<int>(count, input.count);
  }
  for (int stream = 0; stream < stream_count; ++stream) {
    const int count = needed[static_cast<std::size_t>(stream)];
    if (count < 0) continue;
    op.waits[op.wait_count++] = {static_cast<Stream>(stream), static_cast<std::uint16_t>(count)};
  }
}

Ready PhaseBuilder::compute(const std::string& name, const Kernel& kernel, const std::vector<Ready>& inputs,
                            bool host_sync) {
  compute_ += Time::seconds(kernel.cost.time.to_seconds() * (1 + runtime_.compute_slowdown));
  check_phase(phase_, compute_, name);
  ProgramOp op;
  op.stream = Stream::compute;
  op.duration_ps = kernel.cost.time.ps();
  op.overlapped_ps = std::llround(static_cast<double>(op.duration_ps) * (1 + runtime_.compute_slowdown));
  op.host_ps = static_cast<std::uint32_t>(runtime_.host_kernel.ps());
  op.host_sync = host_sync;
  std::vector<Ready> all = inputs;
  all.insert(all.end(), next_.begin(), next_.end());
  next_.clear();
  add_waits(op, all);
  phase_.ops.push_back(op);
  OpDescription description;
  description.name = names_(name);
  description.kind = names_(kernel.kind);
  description.flops = kernel.flops;
  description.bytes = std::llround(kernel.bytes);
  description.provenance = kernel.cost.provenance;
  description.relative_sigma = kernel.cost.relative_sigma;
  phase_.descriptions.push_back(description);
  return Ready::behind(Stream::compute, ++counts_[0]);
}

Ready PhaseBuilder::communicate(const std::string& name, CollectiveUse use, Stream stream,
                                const std::vector<Ready>& inputs, bool host_sync) {
  check_phase(phase_, compute_, name);
  ProgramOp op;
  op.stream = stream;
  op.collective = static_cast<std::uint32_t>(uses_.size());  // final number comes with finish()
  op.host_ps = static_cast<std::uint32_t>(runtime_.host_collective.ps());
  op.host_sync = host_sync;
  add_waits(op, inputs);
  phase_.ops.push_back(op);
  OpDescription description;
  description.name = names_(name);
  description.kind = names_(std::string(cost::name_of(use.kind)));
  description.bytes = use.size.value;
  phase_.descriptions.push_back(description);
  uses_.push_back(std::move(use));
  return Ready::behind(stream, ++counts_[static_cast<std::size_t>(stream)]);
}

bool PhaseBuilder::beside_compute(std::size_t index) const {
  const ProgramOp& collective = phase_.ops[index];
  std::uint16_t number = 0;
  for (std::size_t i = 0; i <= index; ++i)
    number = static_cast<std::uint16_t>(number + (phase_.ops[i].stream == collective.stream));
  for (std::size_t i = index + 1; i < phase_.ops.size(); ++i) {
    const ProgramOp& op = phase_.ops[i];
    if (!op.is_compute()) continue;
    const auto* end = op.waits.begin() + op.wait_count;
    return std::none_of(op.waits.begin(), end,
                        [&](const Wait& w) { return w.stream == collective.stream && w.count >= number; });
  }
  return false;
}

Phase PhaseBuilder::finish() {
  std::vector<std::size_t> compute_ops;
  for (std::size_t i = 0; i < phase_.ops.size(); ++i) {
    if (phase_.ops[i].is_compute()) compute_ops.push_back(i);
  }
  for (std::size_t i = 0; i < phase_.ops.size(); ++i) {
    ProgramOp& op = phase_.ops[i];
    if (op.is_compute()) continue;
    CollectiveUse& use = uses_[op.collective];
    use.beside_compute = use.traffic != Traffic::scalar && use.traffic != Traffic::pipeline && beside_compute(i);
    op.collective = collectives_.use(use);
    for (std::uint8_t w = 0; w < op.wait_count; ++w) {
      const Wait& wait = op.waits[w];
      if (wait.stream == Stream::compute && wait.count > 0) phase_.ops[compute_ops[wait.count - 1u]].signals = true;
    }
  }
  // The next phase's communication may wait for the end of this one's compute.
  if (!compute_ops.empty()) phase_.ops[compute_ops.back()].signals = true;
  phase_.finish();
  return std::move(phase_);
}

}  // namespace proteus::graph
