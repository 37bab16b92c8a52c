// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "proteus/base/time.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/model/graph.hpp"

/// What 64-bit counts of elements, bytes and picoseconds hold. Inputs beyond that are refused while the job is
/// compiled, far above anything that fits a machine, so that nothing behind it has to look for overflows.
namespace proteus::graph {

/// compile() turns it into an InputError that names `section` of the experiment.
class BeyondLimit : public std::runtime_error {
 public:
  BeyondLimit(std::string in_section, const std::string& problem, std::string what_fits)
      : std::runtime_error(problem), section_(std::move(in_section)), expected_(std::move(what_fits)) {}
  const std::string& section() const { return section_; }
  const std::string& expected() const { return expected_; }

 private:
  std::string section_;
  std::string expected_;
};

/// 13 days: what one collective may take alone, and what one device may compute in a run. The engine's clock ends at
/// twice that.
inline constexpr Time longest_time = Time::picoseconds(std::int64_t{1} << 60);

/// Elements of all tensors of a micro-batch on all replicas together; with at most eight bytes each.
inline constexpr double most_elements = 7.2e16;  // 2^56

/// Bytes that one device is asked to hold; the largest have 2^38.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 60;

/// Passes of micro-batches through chunks that one stage makes in an iteration: steps are stored one by one.
inline constexpr std::int64_t most_passes = std::int64_t{1} << 20;

/// Throw BeyondLimit.
void check_elements(const model::Graph& graph);
void check_bytes(std::int64_t bytes, const std::string& what);
/// Before `op` is added to `phase`: `compute` is the time of its compute ops, with `op`.
void check_phase(const Phase& phase, Time compute, const std::string& op);
void check_collective(const CollectiveUse& use, double comm_slowdown);
void check_program_time(const Job& job, const Program& program);

}  // namespace proteus::graph
