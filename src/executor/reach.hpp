// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "proteus/engine/simulation.hpp"
#include "proteus/graph/program.hpp"

namespace proteus::executor {

class Tables;

/// Where programs next run a collective of a certain kind: one that is promised, because its communicator is open, or
/// one of the others between islands.
class Reach {
 public:
  static constexpr std::uint16_t no_op = std::numeric_limits<std::uint16_t>::max();
  static constexpr std::uint32_t no_step = std::numeric_limits<std::uint32_t>::max();

  /// `sought[c]`: whether collective c is of the kind; `leg_ps`: no message about one takes less.
  Reach(const graph::Job& job, std::vector<bool> sought, std::int64_t leg_ps);

  bool has(std::uint32_t collective) const { return sought_[collective]; }
  std::int64_t leg_ps() const { return leg_ps_; }
  /// The first index >= `index` of by_stream[stream] in a phase that is of the kind, or no_op.
  std::uint16_t next_op(std::uint32_t phase, std::size_t stream, std::size_t index) const {
    return ops_[phase][stream][index];
  }
  /// The first step >= `step` of a program with such an op on the stream, or no_step.
  std::uint32_t next_step(std::uint32_t program, std::size_t stream, std::size_t step) const {
    return steps_[program][stream][step];
  }

 private:
  std::vector<bool> sought_;
  std::int64_t leg_ps_;
  std::vector<std::array<std::vector<std::uint16_t>, graph::stream_count>> ops_;    ///< by phase
  std::vector<std::array<std::vector<std::uint32_t>, graph::stream_count>> steps_;  ///< by program
};

/// By object, whether a communicator is open: it, some member or some domain is on another rank than the rest, or it
/// runs seldom.
std::vector<bool> open_communicators(const Tables& tables, const std::vector<std::uint32_t>& owner);

/// Islands, domains and communicators that are not open are inner processes.
std::shared_ptr<const engine::Couplings> couplings_of(const Tables& tables, const std::vector<bool>& open);

}  // namespace proteus::executor
