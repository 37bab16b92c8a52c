// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proteus/base/time.hpp"

namespace proteus::engine {

/// Why a rank could not go on.
struct Failure {
  /// What is thrown in the end: SimulationError, or one of those that have an exit status of their own.
  enum class Kind : std::uint8_t { simulation, output, stopped };

  Kind kind = Kind::simulation;
  Time when;
  std::string text;
};

/// What one rank says at the end of the run, whatever the end. Travels as text through Transport::gather.
struct Outcome {
  /// As many as a reader can take in; the number of those left out is stated.
  static constexpr std::size_t kMostLines = 20;

  std::optional<Failure> failure;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t processes = 0;
  std::uint64_t unfinished = 0;     ///< processes
  std::uint64_t blocked_lines = 0;  ///< of which `blocked` holds the first
  Time last_event;
  std::vector<std::pair<std::uint32_t, std::string>> blocked;  ///< object and what it waits for, ascending

  std::string encode() const;
  static Outcome decode(const std::string& text);
};

/// Throws what the outcomes of all ranks, in rank order, amount to; returns if all is well. Deadlock texts do not
/// depend on how processes are spread over ranks. `chain` is asked for the chain of waits, on all ranks or on none.
void conclude(std::span<const Outcome> outcomes, const std::function<std::vector<std::string>()>& chain);

}  // namespace proteus::engine
