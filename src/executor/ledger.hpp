// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proteus/executor/run.hpp"

namespace proteus::executor {

/// What a logical process has found so far; collect() adds them up.
struct Ledger {
  RowSink* sink = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t collectives = 0;
  std::vector<std::int64_t> iteration_end_ps;
  std::vector<ClassResult> classes;  ///< by program

  void end_of(std::int32_t iteration, std::int64_t time_ps) {
    auto& end = iteration_end_ps[static_cast<std::size_t>(iteration)];
    end = std::max(end, time_ps);
  }
};

/// A logical process with something to tell.
class Reporting {
 public:
  virtual ~Reporting() = default;
  virtual void report(Result& result) const = 0;
};

}  // namespace proteus::executor
