// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "outcome.hpp"
#include "promise_tree.hpp"
#include "proteus/engine/simulation.hpp"
#include "radix_heap.hpp"

namespace proteus::engine {

/// Events must lie before this time. It is the bound of a window that everybody may run to its end, so that an
/// infinite bound is free to mean that nobody has anything left.
inline constexpr Time kEndOfTime = Time::picoseconds(std::numeric_limits<std::int64_t>::max() - 1);

/// How long a rank works on one window before it looks up: flushes, signals and the other ranks do not wait longer.
struct Patience {
  std::chrono::steady_clock::duration budget = std::chrono::seconds(1);
  /// A look at the clock costs about as much as handling a cheap event, and handlers may take milliseconds.
  int events_between_looks = 64;
};

struct LocalEngine::Implementation final : Scheduler {
  struct Slot {
    LogicalProcess* process = nullptr;
    std::uint32_t object = 0;
    bool asked = false;  ///< its promise in the tree still holds: it has handled nothing since
    /// No message of this process may arrive before this, by its last promise and the messages it got since.
    Time promise = Time::zero();
  };

  Implementation(int own_rank, std::shared_ptr<const std::vector<std::uint32_t>> owner_of, Time shortest_delay);

  Time now() const override { return current.time(); }
  void schedule(Event event) override;
  void send(Event event) override;

  void add(std::uint32_t object, std::unique_ptr<LogicalProcess> process);

  /// Starts all processes in ascending order. `ranks`: how many there are in all.
  void start(int ranks);
  /// Queue with the earliest event; none when nothing is left.
  RadixHeap* earliest();
  void handle_earliest(RadixHeap& queue);
  /// Handles events before `bound` until there are none or patience ends.
  void run_window();
  /// Takes what arrived in the mailbox.
  void receive();
  /// Earliest effect on any other process; infinite only if no event is left here or in the outbox.
  Time promise();
  /// What this rank has to say about the end of the run.
  Outcome outcome() const;
  /// "island 12 at 0.5 s: " while a handler runs.
  std::string context() const;

  int rank;
  std::shared_ptr<const std::vector<std::uint32_t>> owner;
  Time lookahead;
  Patience patience;

  std::vector<std::unique_ptr<LogicalProcess>> processes;
  std::vector<Slot> slots;
  // Position in `slots` by object - first_object: with block partitions no longer than what the rank hosts.
  std::vector<std::uint32_t> slot_of;
  std::uint32_t first_object = 0;

  // Events from other processes and events of a process for itself stand apart, so that a promise needs to assume
  // an answer after the shortest delay only for the former.
  RadixHeap messages;
  RadixHeap local;

  Event current;
  Slot* running = nullptr;
  Time bound;  ///< events before it are safe, messages must not arrive before it

  PromiseTree promises;
  std::vector<std::uint32_t> unasked;
  Mailbox* mailbox = nullptr;  ///< none in the sequential loop
  Time earliest_out = Time::infinity();
  std::uint64_t received = 0;

  Statistics statistics;
  std::optional<Failure> failure;

 private:
  void check_time(const Event& event) const;
  void index_slots();
};

}  // namespace proteus::engine
