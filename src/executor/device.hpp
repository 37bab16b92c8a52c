// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "ledger.hpp"
#include "tables.hpp"

namespace proteus::executor {

inline constexpr std::array<graph::Stream, graph::stream_count> every_stream{
    graph::Stream::compute,         graph::Stream::tensor,          graph::Stream::gradient,
    graph::Stream::forward_send,    graph::Stream::forward_receive, graph::Stream::backward_send,
    graph::Stream::backward_receive};

/// One simulated GPU: where each of its streams stands in the program, and what keeps it there. Ops of the compute
/// stream have no events of their own: a run of them, up to the first that somebody waits for, is planned as a whole
/// and its rows are written when it ends, or when its speed changes on the way.
class Device {
 public:
  using Stream = graph::Stream;

  Device(const Tables& tables, std::int64_t id, bool wanted);

  std::int64_t id() const { return id_; }
  /// Fingerprint of the rows written so far.
  const FactHash& rows() const { return rows_; }
  std::uint32_t program_index() const { return program_index_; }
  bool finished() const;

  // Compute stream.

  /// Writes the run's rows if it has ended by `now`.
  void settle(std::int64_t now, Ledger& ledger) {
    if (running_ && run_end_ps_ <= now) commit(now, ledger);
  }
  /// Plans the next run if its first op can start, now or once the host has issued it.
  void start_compute(std::int64_t now, Ledger& ledger);
  bool running() const { return running_; }
  /// When the planned run ends; never if there is none.
  std::int64_t run_end_ps() const { return running_ ? run_end_ps_ : never; }

  // Communication streams.

  /// When the head of a stream can start: its issue time, in the past or the future; nothing while it is blocked or
  /// under way, or where there is none left.
  std::optional<std::int64_t> ready_ps(Stream stream) const;
  std::uint32_t head_collective(Stream stream) const { return head(stream).collective; }
  /// `outside`: ends only by a message from another logical process.
  void launch(Stream stream, std::int64_t now, bool outside, Ledger& ledger);
  /// The op that was launched on `stream` ends; its last member had arrived at `last_arrival_ps`.
  void complete(Stream stream, std::int64_t now, std::int64_t last_arrival_ps, Ledger& ledger);
  bool in_flight(Stream stream) const { return at(stream).in_flight; }
  bool has_work(Stream stream) const { return !at(stream).finished; }

  /// When something can happen: not before `at_ps` unless a message arrives, nor sooner than `after_ps` behind one from
  /// an inner process.
  struct Bound {
    std::int64_t at_ps = never;
    std::int64_t after_ps = never;
    void join(const Bound& other) {
      at_ps = std::min(at_ps, other.at_ps);
      after_ps = std::min(after_ps, other.after_ps);
    }
  };
  /// The next promised collective starts. `earliest_ps`: the next event of the island.
  Bound next_open(std::int64_t earliest_ps) const;
  /// Any other collective between islands starts, or one is under way.
  Bound next_closed(std::int64_t earliest_ps) const;
  /// The shortest time in which a promised transfer that is under way follows its links; never if there is none.
  std::int64_t follows_ps() const;

  /// What the streams stand at, for a deadlock report; one line a stream that is not finished.
  std::vector<std::string> blocked() const;
  /// Why the head of a stream that is neither finished nor under way cannot start, and which stream must go on first.
  struct Held {
    std::string why;
    std::optional<Stream> by;
  };
  Held held_by(Stream stream) const;
  /// Whether an op of `stream` that has not been launched runs on a communicator of `family`.
  bool will_call(Stream stream, std::uint32_t family) const;
  /// "'layers[0].qkv' (linear) of forward, micro-batch 3, iteration 0".
  std::string describe_head(Stream stream) const;

 private:
  /// A place in the program. On the compute stream: of the op that is running or will.
  struct Cursor {
    std::int32_t iteration = 0;
    std::uint32_t step = 0;
    std::uint16_t index = 0;  ///< in Phase::by_stream
  };
  struct StreamState {
    Cursor cursor;
    bool in_flight = false;
    bool outside = false;
    bool finished = false;
    std::int64_t done = 0;  ///< ops ended since the start of the run
    std::int64_t launched_ps = 0;
  };
  /// When the host issues the ops of one phase instance.
  struct IssueTimes {
    const std::uint16_t* syncs;
    const std::int64_t* host;
    std::int64_t syncs_done;  ///< of those of this phase instance; negative while one in front of it is open
    std::int64_t sync_ps;
    std::int64_t origin_ps;  ///< the host times of the phase count from here
    std::optional<std::int64_t> operator()(std::size_t number) const {
      if (syncs[number] > syncs_done) return std::nullopt;
      // An op in front of a synchronizing op that has ended was issued before that end, whenever it was.
      if (syncs[number] < syncs_done) return sync_ps;
      return origin_ps + host[number];
    }
  };
  const StreamState& at(Stream stream) const { return streams_[static_cast<std::size_t>(stream)]; }
  StreamState& at(Stream stream) { return streams_[static_cast<std::size_t>(stream)]; }
  const graph::Phase& phase_at(const Cursor& cursor) const {
    return tables_->job.phases[program_->steps[cursor.step].phase];
  }
  std::uint16_t number_at(Stream stream) const {
    const Cursor& c = at(stream).cursor;
    return phase_at(c).by_stream[static_cast<std::size_t>(stream)][c.index];
  }
  const graph::ProgramOp& head(Stream stream) const { return phase_at(at(stream).cursor).ops[number_at(stream)]; }
  std::int64_t position(const Cursor& cursor) const {
    return cursor.iteration * program_->rows() + program_->rows_before[cursor.step];
  }
  bool last_iteration(const Cursor& cursor) const { return cursor.iteration + 1 == tables_->job.iterations; }

  void advance_cursor(Stream stream);
  void skip_empty_steps(Stream stream);
  bool waits_met(const graph::ProgramOp& op, const Cursor& cursor) const;
  bool wait_met(const graph::Wait& wait, const Cursor& cursor) const;
  std::int64_t target(const graph::Wait& wait, const Cursor& cursor) const;
  IssueTimes issue_times(const Cursor& cursor) const;
  /// Issue time; nothing while a synchronizing op in front of it has not ended.
  std::optional<std::int64_t> issue_ps(const Cursor& cursor, std::size_t number) const;
  /// The host has seen the end of a synchronizing op.
  void synchronize(const Cursor& cursor, std::size_t number, std::int64_t now);

  /// Full-speed time of a compute op, with jitter and delay.
  std::int64_t work_of(const graph::ProgramOp& op, std::int64_t position) const {
    return plain_ ? op.duration_ps : altered_work(op, position);
  }
  std::int64_t altered_work(const graph::ProgramOp& op, std::int64_t position) const;
  /// What `work` takes at the present speed.
  std::int64_t time_for(const graph::ProgramOp& op, std::int64_t work) const { return slow_ ? slowed(op, work) : work; }
  static std::int64_t slowed(const graph::ProgramOp& op, std::int64_t work);
  /// The full-speed work that `time` beside communication does.
  static std::int64_t unslowed(const graph::ProgramOp& op, std::int64_t time);
  /// Plans the run from its current op on.
  void plan();
  /// Writes the rows of what has ended by `now`.
  void commit(std::int64_t now, Ledger& ledger);
  void change_residents(int by, std::int64_t now, Ledger& ledger);
  void record(std::int64_t position, std::int64_t start_ps, std::int64_t end_ps, Ledger& ledger) {
    std::int64_t duration = end_ps - start_ps;
    rows_.add(static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(start_ps),
              static_cast<std::uint64_t>(duration));
    if (wanted_) ledger.sink->record(id_, position, Time::picoseconds(start_ps), Time::picoseconds(duration));
  }
  /// A collective has ended at `now` while the compute stream stood still: the part of the gap that no earlier one has
  /// explained is exposed from its last member's arrival on, and waiting before.
  void explain_gap(graph::Traffic traffic, std::int64_t last_arrival_ps, std::int64_t now, Ledger& ledger);
  /// What is left of a gap that ends at `start_ps`: the host had issued nothing.
  void close_gap(std::int64_t start_ps, Ledger& ledger) const;

  // Lower bounds for promises: not before this, unless a message arrives. `earliest_ps` is the island's next event.

  /// An op of the program, which has not ended, ends.
  std::int64_t ends_ps(Stream stream, std::int32_t iteration, std::uint32_t step, std::uint16_t number,
                       std::int64_t earliest_ps) const;
  /// The head of a stream, which is not under way, can start.
  std::int64_t unblocked_ps(Stream stream, std::int64_t earliest_ps) const;
  /// The first `count` compute ops of a phase instance, and all in front of it, have ended.
  std::int64_t compute_reaches_ps(std::int32_t iteration, std::uint32_t step, std::int64_t count,
                                  std::int64_t earliest_ps) const;
  /// Compute work, at its fastest, from behind the op that runs, or from the next one on, to there; nothing where it
  /// has been done.
  std::optional<std::int64_t> compute_ahead_ps(std::int32_t iteration, std::uint32_t step, std::int64_t count) const;
  /// The next op on `stream`, from its head on or behind one that is under way, that `reach` has.
  Bound next(const Reach& reach, Stream stream, std::int64_t earliest_ps) const;
  /// Whether the head of a stream waits for what only a message from beyond the inner processes can bring.
  bool held_from_outside(Stream stream) const;

  const Tables* tables_;
  const Tables::Reaches* reaches_;
  const graph::Program* program_;
  std::int64_t id_;
  std::uint32_t program_index_;
  bool wanted_;
  bool has_delays_;
  bool plain_;  ///< neither jitter nor delays
  bool running_ = false;
  bool slow_ = false;  ///< a communication kernel was resident when the run was planned
  std::int16_t residents_ = 0;
  std::array<StreamState, graph::stream_count> streams_{};

  // The run, while running_: ops from the compute cursor on.
  std::uint32_t run_left_ = 0;
  std::int64_t run_end_ps_ = 0;
  std::int64_t op_from_ps_ = 0;  ///< the current op's work is counted from here
  std::int64_t op_work_ps_ = 0;  ///< what of it is left then, at full speed

  // The host.
  std::int64_t syncs_done_ = 0;
  std::int64_t sync_ps_ = 0;       ///< when the last of them ended
  std::int64_t sync_host_ps_ = 0;  ///< host time up to it

  // For the breakdown.
  std::int64_t compute_end_ps_ = 0;
  FactHash rows_;
  std::int64_t explained_ps_ = 0;  ///< up to here the current gap of the compute stream is accounted for
};

}  // namespace proteus::executor
