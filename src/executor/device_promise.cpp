// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "device.hpp"

namespace proteus::executor {
namespace {

/// At least this much time passes for `work` under the fastest jitter. Products of doubles may err upwards by a few
/// parts in 1e16.
std::int64_t shortest(std::int64_t work, double factor) {
  if (factor >= 1) return work;
  double product = static_cast<double>(work) * factor;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(product * (1 - 1e-12)) - 1);
}

}  // namespace

std::int64_t Device::ends_ps(Stream stream, std::int32_t iteration, std::uint32_t step, std::uint16_t number,
                             std::int64_t earliest_ps) const {
  const graph::Phase& phase = tables_->job.phases[program_->steps[step].phase];
  const graph::ProgramOp& op = phase.ops[number];
  if (stream == Stream::compute) {
    return compute_reaches_ps(iteration, step, phase.compute_needed[number] + 1, earliest_ps);
  }
  // The end of a collective with other islands is a message, wherever the op stands now.
  return tables_->spans(op.collective, id_) ? never : earliest_ps;
}

std::int64_t Device::unblocked_ps(Stream stream, std::int64_t earliest_ps) const {
  const Cursor& cursor = at(stream).cursor;
  const graph::Phase& phase = phase_at(cursor);
  const std::uint16_t number = number_at(stream);
  const graph::ProgramOp& op = phase.ops[number];
  std::int64_t time = 0;
  if (auto issue = issue_ps(cursor, number)) {
    time = *issue;
  } else {
    // The host stands at the first synchronizing op that has not ended.
    auto count = static_cast<std::int64_t>(program_->syncs.size());
    const graph::Program::Place& place = program_->syncs[static_cast<std::size_t>(syncs_done_ % count)];
    const graph::Phase& there = tables_->job.phases[program_->steps[place.step].phase];
    const Stream other = there.ops[place.op].stream;
    // An op of the compute stream that waits for the host behind another of its ops: what is blocked comes later.
    time = stream == Stream::compute && other == Stream::compute
               ? earliest_ps
               : ends_ps(other, static_cast<std::int32_t>(syncs_done_ / count), place.step, place.op, earliest_ps);
  }
  for (std::size_t w = 0; w < op.wait_count; ++w) {
    const graph::Wait& wait = op.waits[w];
    if (wait.stream == stream || wait_met(wait, cursor)) continue;
    if (wait.stream == Stream::compute) {
      time = std::max(time, compute_reaches_ps(cursor.iteration, cursor.step, wait.count, earliest_ps));
    } else if (wait.count > 0) {
      const auto& numbers = phase.by_stream[static_cast<std::size_t>(wait.stream)];
      time = std::max(time, ends_ps(wait.stream, cursor.iteration, cursor.step, numbers[wait.count - 1u], earliest_ps));
    } else {
      const StreamState& other = at(wait.stream);
      time = std::max(time, other.in_flight && other.outside ? never : earliest_ps);
    }
  }
  return time;
}

std::optional<std::int64_t> Device::compute_ahead_ps(std::int32_t iteration, std::uint32_t step,
                                                     std::int64_t count) const {
  const StreamState& compute = at(Stream::compute);
  const std::int64_t needed =
      iteration * program_->streams_before.back()[0] + program_->streams_before[step][0] + count;
  if (compute.finished || compute.done >= needed) return std::nullopt;

  auto work_before = [this](std::int32_t it, std::uint32_t st, std::size_t index) {
    const graph::Phase& phase = tables_->job.phases[program_->steps[st].phase];
    return it * program_->compute_before_ps.back() + program_->compute_before_ps[st] + phase.compute_before_ps[index];
  };
  const Cursor& c = compute.cursor;
  const std::int64_t end = work_before(iteration, step, static_cast<std::size_t>(count));
  const std::size_t next = running_ ? c.index + std::size_t{1} : c.index;
  const std::int64_t ahead = std::max<std::int64_t>(0, end - work_before(c.iteration, c.step, next));
  return tables_->jitter.active() ? shortest(ahead, tables_->jitter.lowest()) : ahead;
}

std::int64_t Device::compute_reaches_ps(std::int32_t iteration, std::uint32_t step, std::int64_t count,
                                        std::int64_t earliest_ps) const {
  const auto ahead = compute_ahead_ps(iteration, step, count);
  if (!ahead) return 0;
  const std::int64_t time = running_ ? op_from_ps_ + op_work_ps_ : unblocked_ps(Stream::compute, earliest_ps);
  return time == never ? never : time + *ahead;
}

bool Device::held_from_outside(Stream stream) const {
  const StreamState& state = at(stream);
  const auto open = [this](std::uint32_t collective) { return reaches_->always_open[collective]; };
  if (state.finished) return false;
  if (stream == Stream::compute && running_) return false;
  if (state.in_flight) return state.outside && open(head(stream).collective);
  const Cursor& cursor = state.cursor;
  const graph::ProgramOp& op = head(stream);
  if (!issue_ps(cursor, number_at(stream))) {
    const auto& place = program_->syncs[static_cast<std::size_t>(syncs_done_) % program_->syncs.size()];
    const auto& sync = tables_->job.phases[program_->steps[place.step].phase].ops[place.op];
    if (!sync.is_compute() && open(sync.collective)) return true;
  }
  for (std::size_t w = 0; w < op.wait_count; ++w) {
    const Stream other = op.waits[w].stream;
    if (other == stream || wait_met(op.waits[w], cursor)) continue;
    if (other == Stream::compute ? held_from_outside(other)
                                 : at(other).in_flight && at(other).outside && open(head(other).collective)) {
      return true;
    }
  }
  return false;
}

Device::Bound Device::next(const Reach& reach, Stream stream, std::int64_t earliest_ps) const {
  const StreamState& state = at(stream);
  const auto s = static_cast<std::size_t>(stream);
  Cursor c = state.cursor;
  std::uint16_t index =
      reach.next_op(program_->steps[c.step].phase, s, c.index + (state.in_flight ? std::size_t{1} : 0));
  if (index == Reach::no_op) {
    std::uint32_t step = reach.next_step(program_index_, s, c.step + 1);
    if (step == Reach::no_step && c.iteration + 1 < tables_->job.iterations) {
      step = reach.next_step(program_index_, s, 0);
      ++c.iteration;
    }
    if (step == Reach::no_step) return {};
    c.step = step;
    index = reach.next_op(program_->steps[c.step].phase, s, 0);
  }
  const graph::Phase& phase = phase_at(c);
  const std::int64_t needed = phase.compute_needed[phase.by_stream[s][index]];
  const auto ahead = needed < 0 ? std::nullopt : compute_ahead_ps(c.iteration, c.step, needed);
  if (ahead && running_) {
    // Whatever messages come, compute that runs takes its time; but if it is slow now, one may let it end before the
    // island's next event.
    const std::int64_t fastest = op_from_ps_ + op_work_ps_ + *ahead;
    return {slow_ ? fastest : std::max(fastest, earliest_ps), never};
  }
  if (held_from_outside(stream) || (ahead && held_from_outside(Stream::compute))) return {};

  Bound bound{never, ahead.value_or(0)};
  if (!state.in_flight) {
    bound.at_ps = unblocked_ps(stream, earliest_ps);
  } else if (!state.outside) {
    bound.at_ps = earliest_ps;
  }
  if (ahead) bound.at_ps = std::max(bound.at_ps, compute_reaches_ps(c.iteration, c.step, needed, earliest_ps));
  if (bound.at_ps != never) bound.at_ps = std::max(bound.at_ps, earliest_ps);
  return bound;
}

Device::Bound Device::next_open(std::int64_t earliest_ps) const {
  Bound all;
  for (Stream stream : every_stream) {
    if (stream != Stream::compute && !at(stream).finished) all.join(next(*reaches_->open, stream, earliest_ps));
  }
  return all;
}

Device::Bound Device::next_closed(std::int64_t earliest_ps) const {
  Bound all;
  for (Stream stream : every_stream) {
    if (stream == Stream::compute || at(stream).finished) continue;
    if (at(stream).in_flight && reaches_->closed->has(head(stream).collective)) return {earliest_ps, 0};
    all.join(next(*reaches_->closed, stream, earliest_ps));
  }
  return all;
}

std::int64_t Device::follows_ps() const {
  std::int64_t shortest = never;
  for (Stream stream : every_stream) {
    if (!at(stream).in_flight || !at(stream).outside || !reaches_->open->has(head(stream).collective)) continue;
    const std::uint32_t collective = head(stream).collective;
    const std::uint32_t family = tables_->job.collectives[collective].family;
    const auto object = tables_->objects->object_of(family, tables_->job.families[family].locate(id_)->group);
    const std::uint32_t communicator = tables_->communicator(*object);
    if (!tables_->spreads(communicator)) continue;
    shortest =
        std::min(shortest, Tables::follows_ps(tables_->price(collective, tables_->placement(communicator), true)));
  }
  return shortest;
}

}  // namespace proteus::executor
