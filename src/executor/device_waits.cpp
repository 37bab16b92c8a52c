// SPDX-License-Identifier: Apache-2.0
// What a device says of a deadlock.
#include <fmt/format.h>

#include <algorithm>

#include "device.hpp"

namespace proteus::executor {

std::string Device::describe_head(Stream stream) const {
  const StreamState& state = at(stream);
  const graph::Phase& phase = phase_at(state.cursor);
  const graph::Step& step = program_->steps[state.cursor.step];
  std::uint16_t number = number_at(stream);
  std::string name = fmt::format("op {}", number);
  if (number < phase.descriptions.size()) {
    const auto& names = tables_->job.names;
    name =
        fmt::format("'{}' ({})", names.at(phase.descriptions[number].name), names.at(phase.descriptions[number].kind));
  }
  return fmt::format("{} of {}, micro-batch {}, iteration {}", name, phase.name, step.micro_batch,
                     state.cursor.iteration);
}

Device::Held Device::held_by(Stream stream) const {
  const StreamState& state = at(stream);
  const graph::ProgramOp& op = head(stream);
  Held held;
  for (std::size_t w = 0; w < op.wait_count; ++w) {
    if (wait_met(op.waits[w], state.cursor)) continue;
    held.why +=
        fmt::format("{}{}", held.why.empty() ? "waits for stream " : " and ", graph::name_of(op.waits[w].stream));
    if (!held.by) held.by = op.waits[w].stream;
  }
  if (!held.why.empty()) return held;
  held.why = "waits for the host, which waits for an op in front of it";
  if (program_->syncs.empty()) return held;
  const graph::Program::Place& sync = program_->syncs[static_cast<std::size_t>(syncs_done_) % program_->syncs.size()];
  const Stream other = tables_->job.phases[program_->steps[sync.step].phase].ops[sync.op].stream;
  if (other != stream) {
    held.why += fmt::format(" on stream {}", graph::name_of(other));
    held.by = other;
  }
  return held;
}

bool Device::will_call(Stream stream, std::uint32_t family) const {
  const StreamState& state = at(stream);
  if (state.finished) return false;
  const auto calls = [&](const graph::Phase& phase, std::size_t from) {
    const auto& numbers = phase.by_stream[static_cast<std::size_t>(stream)];
    return std::any_of(numbers.begin() + static_cast<std::ptrdiff_t>(std::min(from, numbers.size())), numbers.end(),
                       [&](std::uint16_t number) {
                         const std::uint32_t collective = phase.ops[number].collective;
                         return collective != graph::no_collective &&
                                tables_->job.collectives[collective].family == family;
                       });
  };
  const std::size_t now = state.cursor.index + (state.in_flight ? 1u : 0u);
  if (calls(phase_at(state.cursor), now)) return true;
  const bool again = !last_iteration(state.cursor);
  for (std::size_t step = again ? 0 : state.cursor.step + 1; step < program_->steps.size(); ++step) {
    if (calls(tables_->job.phases[program_->steps[step].phase], 0)) return true;
  }
  return false;
}

std::vector<std::string> Device::blocked() const {
  std::vector<std::string> lines;
  for (Stream stream : every_stream) {
    const StreamState& state = at(stream);
    if (state.finished) continue;
    std::string why;
    if (state.in_flight) {
      const auto& family = tables_->job.families[tables_->job.collectives[head(stream).collective].family];
      why = "waits in " + family.name;
      if (auto place = family.locate(id_)) why += fmt::format(" #{}", place->group);
    } else {
      why = held_by(stream).why;
    }
    lines.push_back(fmt::format("device {} {}: {} {}", id_, graph::name_of(stream), describe_head(stream), why));
  }
  return lines;
}

}  // namespace proteus::executor
