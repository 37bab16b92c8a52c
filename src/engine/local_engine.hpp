// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event_queue.hpp"
#include "outcome.hpp"
#include "perfect_windows.hpp"
#include "promise_tree.hpp"
#include "proteus/engine/simulation.hpp"

namespace proteus::engine {

/// Events must lie before this time. It is the bound of a window that everybody may run to its end, so that an
/// infinite bound is free to mean that nobody has anything left. A quarter of what Time holds, 26 days: processes add
/// durations to the time without looking.
inline constexpr Time kEndOfTime = Time::picoseconds(std::int64_t{1} << 61);

struct LocalEngine::Implementation final : Scheduler {
  struct alignas(64) Slot {  // a cache line
    LogicalProcess* process = nullptr;
    std::uint32_t object = 0;
    std::uint64_t events = 0;  ///< handled
    bool asked = false;        ///< its promise in the trees still holds: it has handled nothing since
    bool inner = false;
    Time reaction = Time::zero();
    Time after = Time::zero();  ///< by its last promise
    /// No message of this process may arrive before this, by its last promise and the messages it got since.
    Time promise = Time::zero();
  };

  Implementation(int own_rank, std::shared_ptr<const std::vector<std::uint32_t>> owner_of, Time shortest_delay,
                 EngineOptions how);

  Time now() const override { return current.time(); }
  void schedule(const Event& event) override;
  void send(const Event& event) override;

  void add(std::uint32_t object, std::unique_ptr<LogicalProcess> process);

  /// Starts all processes in ascending order. `ranks`: how many there are in all.
  void start(int ranks);
  /// Queue with the earliest event; none when nothing is left.
  EventQueue* earliest();
  void handle_earliest(EventQueue& queue);
  /// Handles events before `bound` until there are none, the budget is spent, or this rank is `full`.
  void run_window(const std::function<bool(int rank)>& full);
  /// Takes what arrived in the mailbox.
  void receive();
  /// Earliest effect on any other process; infinite only if no event is left here or in the outbox.
  Time promise();
  /// What this rank has to say about the end of the run.
  Outcome outcome() const;
  /// "island 12 at 0.5 s: " while a handler runs.
  std::string context() const;
  /// The process of that number; null where it lives elsewhere.
  const LogicalProcess* hosted(std::uint32_t object) const;
  /// "island 12", wherever it lives.
  std::string name_of(std::uint32_t object) const;

  int rank;
  std::shared_ptr<const std::vector<std::uint32_t>> owner;
  Time lookahead;
  EngineOptions options;

  std::vector<std::unique_ptr<LogicalProcess>> processes;
  std::vector<Slot> slots;
  // Position in `slots` by object - first_object: with block partitions no longer than what the rank hosts.
  std::vector<std::uint32_t> slot_of;
  std::uint32_t first_object = 0;

  // Three kinds of events stand apart, for what a promise must assume of each: messages that may be answered after the
  // shortest delay, those to processes that take longer, and what inner processes tell themselves and each other.
  EventQueue messages;
  EventQueue slow_messages;
  EventQueue own;

  Event current;
  Slot* running = nullptr;
  Time bound;  ///< events before it are safe, messages must not arrive before it

  std::shared_ptr<const Couplings> couplings = std::make_shared<const Couplings>();
  Time slow_reaction = Time::infinity();  ///< the shortest of those that get slow messages
  PromiseTree promises;
  PromiseTree lags;
  std::vector<std::uint32_t> unasked;
  Mailbox* mailbox = nullptr;               ///< none in the sequential loop
  Time earliest_answer = Time::infinity();  ///< to what lies in the outbox
  std::uint64_t received = 0;
  PerfectWindows perfect;

  Statistics statistics;
  std::optional<Failure> failure;

 private:
  void check_time(const Event& event) const;
  void leave(const Event& event, std::uint32_t destination);
  bool is_inner(std::uint32_t object) const { return !couplings->inner.empty() && couplings->inner[object]; }
  Time reaction(std::uint32_t object) const {
    return couplings->reaction.empty() ? lookahead : std::max(lookahead, couplings->reaction[object]);
  }
  void push_message(const Event& event) { (reaction(event.object) > lookahead ? slow_messages : messages).push(event); }
  void index_slots();
  /// Brings what the next events of `queue` will touch into the cache.
  void prefetch(const EventQueue& queue) const;
};

}  // namespace proteus::engine
