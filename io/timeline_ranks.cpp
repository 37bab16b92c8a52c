// SPDX-License-Identifier: Apache-2.0
#include "timeline_ranks.hpp"

#include <chrono>
#include <iostream>
#include <limits>
#include <thread>

#include "proteus/base/error.hpp"

namespace proteus::io {
namespace {

constexpr int exit_status = 73;  // as for every file that cannot be written (EX_CANTCREAT of sysexits.h)

}  // namespace

Ranks::Ranks(MPI_Comm communicator) {
  if (communicator == MPI_COMM_NULL) return;
  int size = 1;
  MPI_Comm_size(communicator, &size);
  if (size < 2) return;
  communicator_ = communicator;
  MPI_Comm_rank(communicator, &rank_);
}

void Ranks::together(const std::function<void()>& action) const {
  std::string error;
  try {
    action();
  } catch (const OutputError& failure) {
    error = failure.what();
  }
  constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();
  const std::int64_t failed = least(error.empty() ? nobody : rank_);
  if (failed != nobody) throw OutputError(said_by(static_cast<int>(failed), error));
}

void Ranks::collectively(const std::function<void()>& action, const std::function<bool()>& leave) const {
  try {
    action();
  } catch (const std::exception& failure) {
    if (!parallel()) throw;
    if (leave()) {
      std::cerr << "proteus: error: rank " + std::to_string(rank_) + ": " + failure.what() + "\n" << std::flush;
    } else {
      // The rank that tells it shall not be killed before it has.
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    MPI_Abort(communicator_, exit_status);
  }
}

std::int64_t Ranks::least(std::int64_t value) const {
  if (parallel()) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MIN, communicator_);
  return value;
}

std::int64_t Ranks::sum(std::int64_t value) const {
  if (parallel()) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, communicator_);
  return value;
}

std::string Ranks::said_by(int rank, std::string text) const {
  if (!parallel()) return text;
  auto size = static_cast<int>(text.size());
  MPI_Bcast(&size, 1, MPI_INT, rank, communicator_);
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), size, MPI_CHAR, rank, communicator_);
  return text;
}

}  // namespace proteus::io
