// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>

namespace proteus::io {

/// What the ranks of a run have to agree on. One rank, with MPI or without, makes no MPI call here.
class Ranks {
 public:
  explicit Ranks(MPI_Comm communicator);

  /// MPI_COMM_NULL where there is one rank.
  MPI_Comm communicator() const { return communicator_; }
  bool parallel() const { return communicator_ != MPI_COMM_NULL; }
  bool first() const { return rank_ == 0; }

  /// Runs `action` and, where it failed on any rank, throws on all with the reason of the first that failed.
  void together(const std::function<void()>& action) const;

  /// Runs an `action` whose calls wait for all ranks. Where it fails on one, the others are inside a call that can
  /// never end: the job is ended, with the reason, which is told where `leave` returns true.
  void collectively(const std::function<void()>& action, const std::function<bool()>& leave) const;

  std::int64_t least(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;

 private:
  std::string said_by(int rank, std::string text) const;

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
};

}  // namespace proteus::io
