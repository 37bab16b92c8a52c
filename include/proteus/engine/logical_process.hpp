// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proteus/engine/event.hpp"

namespace proteus::engine {

/// What a logical process promises of its messages to others, those within its rank's inner processes (see
/// Couplings) left out. Both may be early, never late.
struct Promise {
  /// None of them arrives before this, unless a message comes; infinity where it can only react to messages.
  Time at = Time::zero();
  /// Nor sooner than this behind the arrival of a message from an inner process; counts as at least the shortest delay.
  Time after = Time::zero();
  /// Some of what messages from inner processes lead to here has been promised by those who send them, and is left out
  /// of `after`.
  bool senders_answer = false;
};

/// A place of a logical process where something can wait.
struct WaitPlace {
  std::uint32_t object = 0;
  std::uint64_t place = 0;  ///< what it means is the process's
  auto operator<=>(const WaitPlace&) const = default;
};

/// What one place waits for: a link of the chain that a deadlock is made of.
struct WaitLink {
  std::string who;                ///< "device 3 (stage 1), tensor"; empty: `what` continues the link before
  std::string what;               ///< "waits for stream compute"; empty, with `who`: not worth a word
  std::string holds;              ///< what it is in the midst of, which others wait for; may be empty
  std::optional<WaitPlace> next;  ///< where the cause is; nothing: it will never come
};

/// What a logical process may do while it handles an event.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Time of the event being handled.
  virtual Time now() const = 0;

  /// Queues an event for the handling logical process itself; time >= now. Sets `object` and `delta`.
  virtual void schedule(const Event& event) = 0;

  /// Sends an event to another logical process, wherever it lives, at least the shortest delay ahead; between inner
  /// processes that is all. Else not before the promise and the end of the current window: anything else is a broken
  /// promise and ends the run with the name of the sender.
  virtual void send(const Event& event) = 0;
};

/// A part of the model whose state only its own events touch: an NVLink island, a communicator that spans islands, a
/// fabric domain. Ranks only host them.
class LogicalProcess {
 public:
  virtual ~LogicalProcess() = default;

  /// Called once, at time zero, before any event.
  virtual void start(Scheduler& scheduler) = 0;

  virtual void handle(const Event& event, Scheduler& scheduler) = 0;

  /// Asked again only after the process handled an event.
  virtual Promise promise() const = 0;

  /// Whether all its work is done. Asked when no events are left anywhere.
  virtual bool finished() const = 0;

  /// For the deadlock report: one line for each thing that is stuck, what it waits for, and who is missing.
  virtual std::vector<std::string> blocked() const = 0;

  /// For the chain of waits: the first place of an unfinished process that waits; nothing where it knows of none.
  virtual std::optional<std::uint64_t> first_wait() const { return std::nullopt; }
  /// Of that place, or of one that another process named.
  virtual WaitLink wait_at(std::uint64_t /*place*/) const { return {}; }

  /// "island 12", "communicator dp #3": for messages.
  virtual std::string name() const = 0;
};

}  // namespace proteus::engine
