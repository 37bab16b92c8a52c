// SPDX-License-Identifier: Apache-2.0
#include "launcher.hpp"

#include <array>
#include <cstdlib>
#include <exception>
#include <string>

#include "command.hpp"

namespace proteus::cli {
namespace {

const char* first_set(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name); value != nullptr) return value;
  }
  return nullptr;
}

}  // namespace

int rank_from_environment() {
  const char* rank = first_set({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANK"});
  return rank == nullptr ? 0 : std::atoi(rank);
}

bool started_by_launcher() {
  if (first_set({"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"}) != nullptr) return true;
  // srun without an MPI plugin starts strangers that would all write the same file.
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (tasks != nullptr && std::atoi(tasks) > 1) {
    throw UsageError("srun started " + std::string(tasks) + " tasks without MPI; use srun --mpi=pmix");
  }
  return false;
}

MpiSession::MpiSession() : active_(started_by_launcher()) {
  if (!active_) return;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

MpiSession::~MpiSession() {
  if (!active_) return;
  // Other ranks may be inside a collective that this one will never reach: leaving alone would hang them.
  if (std::uncaught_exceptions() > 0 && ranks_ > 1) return;
  MPI_Finalize();
}

std::vector<std::vector<std::int64_t>> MpiSession::gather(const std::vector<std::int64_t>& words) const {
  if (!active_) return {words};
  const auto count = static_cast<int>(words.size());
  std::vector<std::int64_t> all(words.size() * static_cast<std::size_t>(ranks_));
  MPI_Allgather(words.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, MPI_COMM_WORLD);
  std::vector<std::vector<std::int64_t>> by_rank;
  for (int r = 0; r < ranks_; ++r)
    by_rank.emplace_back(all.begin() + std::ptrdiff_t{r} * count, all.begin() + std::ptrdiff_t{r + 1} * count);
  return by_rank;
}

void MpiSession::sum_on_first(std::vector<std::uint64_t>& words) const {
  if (!active_) return;
  const auto count = static_cast<int>(words.size());
  MPI_Reduce(rank_ == 0 ? MPI_IN_PLACE : words.data(), words.data(), count, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_ != 0) words.clear();
}

}  // namespace proteus::cli
