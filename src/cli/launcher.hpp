// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace proteus::cli {

/// Rank in the job as the launcher's environment tells it, before MPI is started; 0 where there is no launcher.
int rank_from_environment();
/// Whether mpirun, srun --mpi=... or the like started this process.
bool started_by_launcher();

/// MPI between its start and its end. Without a launcher MPI is never started: one process needs no MPI call.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  bool active() const { return active_; }
  MPI_Comm communicator() const { return active_ ? MPI_COMM_WORLD : MPI_COMM_NULL; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  /// Words of all ranks, by rank; all ranks bring equally many.
  std::vector<std::vector<std::int64_t>> gather(const std::vector<std::int64_t>& words) const;
  /// Adds up what all ranks bring, equally many each, on rank 0; elsewhere nothing is left.
  void sum_on_first(std::vector<std::uint64_t>& words) const;

 private:
  bool active_ = false;
  int rank_ = 0;
  int ranks_ = 1;
};

}  // namespace proteus::cli
