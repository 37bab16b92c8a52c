// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

namespace proteus::executor {

std::optional<std::int64_t> Device::ready_ps(Stream stream) const {
  const StreamState& state = at(stream);
  if (state.finished || state.in_flight) return std::nullopt;
  std::uint16_t number = number_at(stream);
  const graph::ProgramOp& op = phase_at(state.cursor).ops[number];
  if (!waits_met(op, state.cursor)) return std::nullopt;
  return issue_ps(state.cursor, number);
}

void Device::launch(Stream stream, std::int64_t now, bool outside, Ledger& ledger) {
  StreamState& state = at(stream);
  state.in_flight = true;
  state.outside = outside;
  state.launched_ps = now;
  if (tables_->job.collectives[head(stream).collective].slows_compute()) change_residents(+1, now, ledger);
}

void Device::complete(Stream stream, std::int64_t now, std::int64_t last_arrival_ps, Ledger& ledger) {
  StreamState& state = at(stream);
  const Cursor cursor = state.cursor;
  const std::uint16_t number = number_at(stream);
  const graph::ProgramOp& op = head(stream);
  const graph::CollectiveUse& use = tables_->job.collectives[op.collective];
  settle(now, ledger);
  record(position(cursor) + number, state.launched_ps, now, ledger);
  ++ledger.rows;
  ledger.end_of(cursor.iteration, now);
  state.in_flight = false;
  ++state.done;
  advance_cursor(stream);
  explain_gap(use.traffic, last_arrival_ps, now, ledger);
  if (op.host_sync) {
    // What is planned behind it was issued before it, so its start is in the past or follows from compute alone; but
    // these starts must be written before the host's clock is set anew.
    if (running_) commit(now, ledger);
    synchronize(cursor, number, now);
    if (running_) plan();
  }
  if (use.slows_compute()) change_residents(-1, now, ledger);
}

void Device::change_residents(int by, std::int64_t now, Ledger& ledger) {
  residents_ = static_cast<std::int16_t>(residents_ + by);
  bool slow = residents_ > 0;
  if (!running_ || slow == slow_) return;
  commit(now, ledger);
  if (!running_) return;
  const graph::ProgramOp& op = head(Stream::compute);
  if (op_from_ps_ < now) {
    // Rounded up, as everywhere: work never shrinks on its way.
    std::int64_t left = op_from_ps_ + time_for(op, op_work_ps_) - now;
    op_work_ps_ = slow_ ? unslowed(op, left) : left;
    op_from_ps_ = now;
  }
  slow_ = slow;
  plan();
}

}  // namespace proteus::executor
