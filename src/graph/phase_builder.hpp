// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collectives.hpp"
#include "kernels.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/strategy/runtime.hpp"

namespace proteus::graph {

/// The string table of a job.
class Names {
 public:
  explicit Names(Job& job) : job_(job) {}
  std::uint32_t operator()(const std::string& name);

 private:
  Job& job_;
  std::map<std::string, std::uint32_t> numbers_;
};

/// When something is there: behind an op of this phase, or (count 0) behind all that was issued on the stream before
/// it. Default: from the start.
struct Ready {
  Stream stream = Stream::compute;
  std::uint16_t count = 0;
  bool always = true;

  static Ready behind(Stream stream, std::uint16_t count) { return {stream, count, false}; }
};

/// Appends ops to a phase in issue order and turns data dependences into waits.
class PhaseBuilder {
 public:
  PhaseBuilder(std::string name, PhaseKind kind, int chunk, const strategy::Runtime& runtime, Collectives& collectives,
               Names& names);

  /// One kernel on the compute stream. Waits for what is not on that stream anyway.
  Ready compute(const std::string& name, const Kernel& kernel, const std::vector<Ready>& inputs,
                bool host_sync = false);

  /// One collective. `beside` is found by finish().
  Ready communicate(const std::string& name, CollectiveUse use, Stream stream, const std::vector<Ready>& inputs,
                    bool host_sync);

  /// The next compute op waits for this too.
  void before_next(const Ready& ready) { next_.push_back(ready); }
  /// What has been computed so far; count 0 before the first op: the tail of the previous phase.
  Ready computed() const { return Ready::behind(Stream::compute, counts_[0]); }

  /// The finished phase, its uses registered.
  Phase finish();

 private:
  void add_waits(ProgramOp& op, const std::vector<Ready>& inputs) const;
  bool beside_compute(std::size_t index) const;

  Phase phase_;
  std::vector<CollectiveUse> uses_;  ///< of communication ops, in order
  std::array<std::uint16_t, stream_count> counts_{};
  std::vector<Ready> next_;
  Time compute_;  ///< of all ops so far
  const strategy::Runtime& runtime_;
  Collectives& collectives_;
  Names& names_;
};

}  // namespace proteus::graph
