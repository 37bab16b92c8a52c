// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <algorithm>

namespace proteus::executor {
namespace {

/// value * numerator / denominator, rounded up: work that is converted back and forth never shrinks, which promises
/// rest on.
std::int64_t scale_up(std::int64_t value, std::int64_t numerator, std::int64_t denominator) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((Wide{value} * numerator + denominator - 1) / denominator);
}

}  // namespace

Device::Device(const Tables& tables, std::int64_t id, bool wanted)
    : tables_(&tables),
      reaches_(&tables.reaches(tables.objects->island_of(id))),
      program_(&tables.job.programs.at(tables.job.class_of(id))),
      id_(id),
      program_index_(tables.job.class_of(id)),
      wanted_(wanted),
      has_delays_(tables.has_delays(id)),
      plain_(!tables.jitter.active() && !has_delays_) {
  for (Stream stream : every_stream) {
    if (program_->streams_before.back()[static_cast<std::size_t>(stream)] == 0) {
      at(stream).finished = true;
    } else {
      skip_empty_steps(stream);
    }
  }
}

bool Device::finished() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const StreamState& s) { return s.finished; });
}

void Device::skip_empty_steps(Stream stream) {
  StreamState& state = at(stream);
  Cursor& c = state.cursor;
  while (c.index >= phase_at(c).by_stream[static_cast<std::size_t>(stream)].size()) {
    c.index = 0;
    if (++c.step < program_->steps.size()) continue;
    c.step = 0;
    if (++c.iteration < tables_->job.iterations) continue;
    state.finished = true;
    return;
  }
}

void Device::advance_cursor(Stream stream) {
  ++at(stream).cursor.index;
  skip_empty_steps(stream);
}

std::int64_t Device::target(const graph::Wait& wait, const Cursor& cursor) const {
  auto s = static_cast<std::size_t>(wait.stream);
  return cursor.iteration * program_->streams_before.back()[s] + program_->streams_before[cursor.step][s] + wait.count;
}

bool Device::wait_met(const graph::Wait& wait, const Cursor& cursor) const {
  return at(wait.stream).done >= target(wait, cursor);
}

bool Device::waits_met(const graph::ProgramOp& op, const Cursor& cursor) const {
  for (std::size_t w = 0; w < op.wait_count; ++w) {
    // Its own stream is in order anyway; ops of a run that is only planned do not count as done.
    if (op.waits[w].stream != op.stream && !wait_met(op.waits[w], cursor)) return false;
  }
  return true;
}

std::optional<std::int64_t> Device::issue_ps(const Cursor& cursor, std::size_t number) const {
  return issue_times(cursor)(number);
}

Device::IssueTimes Device::issue_times(const Cursor& cursor) const {
  const graph::Phase& phase = phase_at(cursor);
  std::int64_t syncs =
      std::int64_t{cursor.iteration} * program_->syncs_before.back() + program_->syncs_before[cursor.step];
  std::int64_t host =
      cursor.iteration * program_->host_before_ps.back() + program_->host_before_ps[cursor.step] - sync_host_ps_;
  return {phase.syncs_before.data(), phase.host_before_ps.data(), syncs_done_ - syncs, sync_ps_, sync_ps_ + host};
}

void Device::synchronize(const Cursor& cursor, std::size_t number, std::int64_t now) {
  ++syncs_done_;
  sync_ps_ = now;
  sync_host_ps_ = cursor.iteration * program_->host_before_ps.back() + program_->host_before_ps[cursor.step] +
                  phase_at(cursor).host_before_ps[number];
}

std::int64_t Device::altered_work(const graph::ProgramOp& op, std::int64_t position) const {
  std::int64_t work = op.duration_ps;
  if (tables_->jitter.active()) work = tables_->jitter.apply(work, id_, position);
  return has_delays_ ? work + tables_->delay(id_, position) : work;
}

std::int64_t Device::slowed(const graph::ProgramOp& op, std::int64_t work) {
  if (work == op.duration_ps) return op.overlapped_ps;
  return op.duration_ps == 0 ? work : scale_up(work, op.overlapped_ps, op.duration_ps);
}

std::int64_t Device::unslowed(const graph::ProgramOp& op, std::int64_t time) {
  return op.duration_ps == 0 ? time : scale_up(time, op.duration_ps, op.overlapped_ps);
}

void Device::start_compute(std::int64_t now, Ledger& ledger) {
  StreamState& state = at(Stream::compute);
  if (running_ || state.finished) return;
  const Cursor& c = state.cursor;
  std::uint16_t number = number_at(Stream::compute);
  const graph::ProgramOp& op = phase_at(c).ops[number];
  if (!waits_met(op, c)) return;
  auto issue = issue_ps(c, number);
  if (!issue) return;
  running_ = true;
  state.launched_ps = op_from_ps_ = std::max(now, *issue);
  op_work_ps_ = work_of(op, position(c) + number);
  slow_ = residents_ > 0;
  if (last_iteration(c) && state.launched_ps > compute_end_ps_) close_gap(state.launched_ps, ledger);
  plan();
}

void Device::explain_gap(graph::Traffic traffic, std::int64_t last_arrival_ps, std::int64_t now, Ledger& ledger) {
  const StreamState& compute = at(Stream::compute);
  if (running_ || compute.finished || !last_iteration(compute.cursor)) return;
  const std::int64_t from = std::max(explained_ps_, compute_end_ps_);
  if (now <= from) return;
  Breakdown& sum = ledger.classes[program_index_].sum;
  const std::int64_t moving = std::clamp(last_arrival_ps, from, now);
  sum.exposed[static_cast<std::size_t>(traffic)] += Time::picoseconds(now - moving);
  // Stages end one after the other, and meet again at the scalars of the optimizer: that wait is the end of the bubble.
  const bool drains = traffic == graph::Traffic::scalar && tables_->job.stage_count > 1;
  (traffic == graph::Traffic::pipeline || drains ? sum.bubble : sum.skew) += Time::picoseconds(moving - from);
  explained_ps_ = now;
}

void Device::close_gap(std::int64_t start_ps, Ledger& ledger) const {
  const std::int64_t from = std::max(explained_ps_, compute_end_ps_);
  ledger.classes[program_index_].sum.host += Time::picoseconds(std::max<std::int64_t>(0, start_ps - from));
}

void Device::plan() {
  const Cursor& c = at(Stream::compute).cursor;
  const graph::Phase& phase = phase_at(c);
  const auto& numbers = phase.by_stream[0];
  const IssueTimes issue_time = issue_times(c);
  const std::int64_t first_position = position(c);
  std::size_t index = c.index;
  const graph::ProgramOp* op = &phase.ops[numbers[index]];
  std::int64_t end = op_from_ps_ + time_for(*op, op_work_ps_);
  std::uint32_t count = 1;
  // A run ends with its step, so that waits for "all that was issued before this phase" see it end.
  while (!op->signals && !op->host_sync && index + 1 < numbers.size()) {
    std::uint16_t number = numbers[index + 1];
    const graph::ProgramOp& next = phase.ops[number];
    if (next.wait_count > 0 && !waits_met(next, c)) break;
    std::optional<std::int64_t> issue = issue_time(number);
    if (!issue) break;
    end = std::max(end, *issue) + time_for(next, work_of(next, first_position + number));
    op = &next;
    ++index;
    ++count;
  }
  run_left_ = count;
  run_end_ps_ = end;
}

void Device::commit(std::int64_t now, Ledger& ledger) {
  StreamState& state = at(Stream::compute);
  const Cursor before = state.cursor;
  const graph::Phase& phase = phase_at(before);
  const auto& numbers = phase.by_stream[0];
  const IssueTimes issue_time = issue_times(before);
  const std::int64_t first_position = position(before);
  std::int64_t busy = 0;
  std::int64_t host = 0;
  std::size_t index = before.index;
  const graph::ProgramOp* op = &phase.ops[numbers[index]];
  while (true) {
    std::int64_t end = op_from_ps_ + time_for(*op, op_work_ps_);
    if (end > now) break;
    record(first_position + numbers[index], state.launched_ps, end, ledger);
    busy += end - state.launched_ps;
    compute_end_ps_ = end;
    ++index;
    if (--run_left_ == 0) break;
    std::uint16_t number = numbers[index];
    op = &phase.ops[number];
    state.launched_ps = op_from_ps_ = std::max(end, issue_time(number).value_or(end));
    op_work_ps_ = work_of(*op, first_position + number);
    host += op_from_ps_ - end;
  }
  if (index == before.index) return;
  state.done += static_cast<std::int64_t>(index - before.index);
  ledger.rows += index - before.index;
  ledger.end_of(before.iteration, compute_end_ps_);
  if (last_iteration(before)) {
    ledger.classes[program_index_].sum.compute += Time::picoseconds(busy);
    ledger.classes[program_index_].sum.host += Time::picoseconds(host);
  }
  state.cursor.index = static_cast<std::uint16_t>(index);
  if (run_left_ > 0) return;
  running_ = false;
  if (op->host_sync) synchronize(before, numbers[index - 1], compute_end_ps_);
  skip_empty_steps(Stream::compute);
}

}  // namespace proteus::executor
