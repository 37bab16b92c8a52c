// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proteus/engine/logical_process.hpp"
#include "proteus/engine/transport.hpp"

namespace proteus::engine {

/// Owner of a logical process that the run leaves out, because another stands for it. Nobody may send to it.
inline constexpr std::uint32_t no_rank = std::numeric_limits<std::uint32_t>::max();

/// What a model knows of its logical processes that lets promises reach further. Empty vectors assume nothing.
struct Couplings {
  /// By object: whether it answers for its messages to inner processes of its own rank itself. Such messages may arrive
  /// within a window, as if sender and receiver were one process; all others are promised.
  std::vector<bool> inner;
  /// By object: no message leaves it sooner than this behind a message from beyond the inner processes of its rank.
  std::vector<Time> reaction;
};

enum class QueueKind : std::uint8_t {
  radix,   ///< monotone radix heap
  binary,  ///< plain binary heap: the reference, slower
};

/// When a rank ends its part of a window early, at an event boundary: flushes, signals and the other ranks do not wait
/// longer, and nothing grows without limit. Results cannot depend on it.
struct Budget {
  std::chrono::steady_clock::duration time = std::chrono::seconds(1);
  /// Messages to other ranks that wait for the exchange: some tens of megabytes.
  std::uint64_t messages = std::uint64_t{1} << 20;
  std::uint64_t events = std::numeric_limits<std::uint64_t>::max();
  /// Handled between two looks at the budgets. A look costs about as much as a cheap event; handlers may take
  /// milliseconds.
  int events_between_looks = 64;
};

struct EngineOptions {
  QueueKind queue = QueueKind::radix;
  Budget budget = {};
  /// Names logical processes that live elsewhere in error texts; where there is none, their numbers do.
  std::function<std::string(std::uint32_t object)> name_of = {};
};

/// Counts of one rank; sums and extremes over ranks are the caller's.
struct Statistics {
  std::uint64_t events = 0;
  std::uint64_t windows = 0;
  std::uint64_t perfect_windows = 0;   ///< that exact promises would have needed; the same on all ranks
  std::uint64_t messages_local = 0;    ///< between logical processes of one rank
  std::uint64_t messages_remote = 0;   ///< to another rank
  double seconds_events = 0;           ///< wall time in event handlers
  double seconds_synchronization = 0;  ///< wall time in Transport::exchange
};

/// The logical processes that one (MPI or virtual) rank hosts, and their pending events.
class LocalEngine {
 public:
  /// `owner[object]`: the rank that hosts each logical process of the model, or no_rank; shared by all ranks.
  /// `lookahead`: the shortest delay of any message between logical processes.
  LocalEngine(int rank, std::shared_ptr<const std::vector<std::uint32_t>> owner, Time lookahead,
              EngineOptions options = {});
  ~LocalEngine();
  LocalEngine(LocalEngine&&) noexcept;

  /// Of all objects of the model; before the run.
  void set_couplings(std::shared_ptr<const Couplings> couplings);
  /// Hosts `process` as `object`; owner[object] must be this rank.
  void add(std::uint32_t object, std::unique_ptr<LogicalProcess> process);

  int rank() const;
  const Statistics& statistics() const;
  std::span<const std::unique_ptr<LogicalProcess>> processes() const;
  /// Adds what each logical process here has handled to its place in `events`, by object. The numbers are the model's:
  /// the same for any ranks, partition and windows.
  void count_events(std::span<std::uint64_t> events) const;

  struct Implementation;
  Implementation& implementation() { return *implementation_; }

 private:
  std::unique_ptr<Implementation> implementation_;
};

/// How far one rank is.
struct Pulse {
  Time now;  ///< of its last event
  std::uint64_t events = 0;
  std::uint64_t windows = 0;
  std::uint64_t rows = 0;     ///< see Hooks::rows
  double seconds_events = 0;  ///< wall time in event handlers
};

/// Called on every local rank between windows (in the sequential loop: every few thousand events).
/// `agreed`: the smallest `progress` that any rank reported in the last exchange.
struct Hooks {
  /// A number that only grows, e.g. timeline segments that are complete here.
  std::function<std::int64_t(int rank)> progress;
  /// Collective: every rank is called with the same sequence of `agreed` values, e.g. to write those segments.
  std::function<void(int rank, std::int64_t agreed)> advanced;
  /// Whether `rank` shall end its part of the window here, e.g. because it holds as many rows as it may. Asked whenever
  /// the rank looks at its budget.
  std::function<bool(int rank)> full;

  /// Whether pulses are wanted now; asked between windows where rank 0 lives.
  std::function<bool()> pulse_due;
  /// Of all ranks, where rank 0 lives, soon after pulse_due said so: a collective of its own, which nobody else pays.
  std::function<void(std::span<const Pulse>)> pulse;
  /// What `rank` has to say in Pulse::rows; asked once a pulse.
  std::function<std::uint64_t(int rank)> rows;
};

/// The reference: one loop over all events in order, no windows, no promises asked. `engine` must host every process of
/// the run. Throws SimulationError with the wait-for chain on deadlock.
void run_sequential(LocalEngine& engine, const Hooks& hooks);

/// Conservative windows until no rank has work. `local`: the ranks that live in this process (one under MPI, all of
/// them with an in-process transport). Results equal run_sequential's bit for bit. Throws SimulationError, on every
/// rank, on deadlock, a broken promise or a lost message.
void run_windows(std::span<LocalEngine> local, Transport& transport, const Hooks& hooks);

}  // namespace proteus::engine
