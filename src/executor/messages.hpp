// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "proteus/engine/event.hpp"
#include "proteus/graph/program.hpp"

namespace proteus::executor {

/// What logical processes tell each other and themselves. The values are priorities at one instant; each kind has its
/// own, so that it is a function of the order key.
enum class EventKind : std::uint8_t {
  poll,              ///< island to itself: member = device of the island, instance = version
  collective_ended,  ///< communicator to island: member = device of the island, instance = stream, payload = last
                     ///< arrival
  ports_changed,     ///< island to itself: a transfer over NVLink ends; instance = version
  inner_ended,       ///< island to itself: instance = group of the island, member = lane
  arrived,           ///< device to communicator: instance = lane, member = member, payload = Arrival
  transferred,       ///< domain to communicator: instance = lane
  offered,           ///< domain to communicator: instance = number of the transfer, member = domain's object,
                     ///< payload = rate
  moved,     ///< communicator to itself: a transfer over several domains ends; instance = its number, member = version
  agree,     ///< communicator to itself: all offers of this instant are there; instance = number of the transfer
  transfer,  ///< communicator to domain: instance = lane, member = communicator's object, payload = Transfer
  granted,   ///< communicator to domain: instance = lane, member = communicator's object, payload = rate
  released,  ///< communicator to domain: instance = lane, member = communicator's object
  completion,  ///< domain to itself: a transfer ends; instance = version
  solve,       ///< domain to itself: all changes of this instant are there
};

inline engine::Event make_event(std::int64_t time_ps, EventKind kind, std::uint32_t object, std::uint32_t instance,
                                std::uint32_t member, std::uint64_t payload) {
  engine::Event event;
  event.time_ps = time_ps;
  event.priority = event.kind = static_cast<std::uint8_t>(kind);
  event.object = object;
  event.instance = instance;
  event.member = member;
  event.payload = payload;
  return event;
}

/// Beside compute or not, and the number of a transfer over several domains (its last 31 bits), in the small half.
inline std::uint32_t pack_transfer(bool beside_compute, std::uint32_t number) {
  return (number << 1) | (beside_compute ? 1u : 0u);
}

/// A collective's number and a small one beside it: the stream of an arrival, whether a transfer runs beside compute.
inline std::uint64_t pack_payload(std::uint32_t collective, std::uint32_t small) {
  return (std::uint64_t{small} << 32) | collective;
}
inline std::uint32_t payload_collective(std::uint64_t payload) { return static_cast<std::uint32_t>(payload); }
inline std::uint32_t payload_small(std::uint64_t payload) { return static_cast<std::uint32_t>(payload >> 32); }

}  // namespace proteus::executor
