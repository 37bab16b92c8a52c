// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "proteus/engine/event.hpp"

namespace proteus::engine {

/// An event on its way to another rank, with the logical process that sent it: errors name it.
struct Message : Event {
  std::uint32_t sender = 0;
};
static_assert(sizeof(Message) == 40 && std::is_trivially_copyable_v<Message>);

/// What one rank brings to, and takes from, an exchange.
struct Mailbox {
  int rank = 0;
  std::vector<std::vector<Message>> out;  ///< by destination rank; emptied by the exchange
  std::vector<Message> in;                ///< events for this rank, in any order
  Time promise;                      ///< earliest effect of this rank on any other process, messages in `out` included
  Time crossing = Time::infinity();  ///< this rank's part of the next bound under perfect promises
  std::int64_t progress = 0;         ///< see Hooks::progress
  bool pulse = false;                ///< this rank asks for a Pulse of everybody
  bool failed = false;               ///< this rank cannot go on: everybody shall stop
};

/// What all ranks agree on.
struct Agreement {
  Time bound;                        ///< smallest promise: everything before it is safe to process
  Time crossing = Time::infinity();  ///< smallest crossing
  std::int64_t progress = 0;         ///< smallest progress
  bool pulse = false;                ///< some rank asks for pulses
  bool failed = false;               ///< some rank failed
};

/// One round of synchronization: delivers all messages and agrees on the bound.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int ranks() const = 0;
  /// `local`: mailboxes of the ranks in this process, ascending.
  virtual Agreement exchange(std::span<Mailbox> local) = 0;
  /// Texts of all ranks, in rank order, on every rank.
  virtual std::vector<std::string> gather(std::span<const std::string> local) = 0;
};

/// All ranks in this process. With a seed, messages are held back within a round and delivered in random order:
/// results must not move (tests).
std::unique_ptr<Transport> make_in_process_transport(int ranks);
std::unique_ptr<Transport> make_shuffling_transport(int ranks, std::uint64_t seed);

}  // namespace proteus::engine
