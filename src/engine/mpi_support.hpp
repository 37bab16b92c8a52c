// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proteus/engine/mpi_transport.hpp"

namespace proteus::engine {

/// Throws std::runtime_error with MPI's text where `status` is an error.
void check_mpi(int status, const char* call);

/// The part of an exchange that differs from one way to another: everybody's messages and what all agree on.
class MpiRound {
 public:
  virtual ~MpiRound() = default;
  /// Fills `in`, empties `out`.
  virtual Agreement run(Mailbox& mailbox) = 0;
};

/// Whom this rank may send to and may hear from, without itself, ascending.
struct MpiNeighbours {
  std::vector<int> destinations;
  std::vector<int> sources;
};

std::unique_ptr<MpiRound> make_all_to_all_round(MPI_Comm communicator);
std::unique_ptr<MpiRound> make_neighbour_round(MPI_Comm communicator, MpiNeighbours neighbours);
std::unique_ptr<MpiRound> make_sparse_round(MPI_Comm communicator);

/// What ranks agree on as words whose minimum over all ranks is the agreement.
class AgreementWords {
 public:
  explicit AgreementWords(const Mailbox& mailbox)
      : words_{mailbox.promise.ps(), mailbox.crossing.ps(), mailbox.progress, mailbox.failed ? 0 : 1,
               mailbox.pulse ? 0 : 1} {}

  std::int64_t* data() { return words_.data(); }
  int size() const { return static_cast<int>(words_.size()); }

  Agreement agreement() const {
    Agreement agreement;
    agreement.bound = Time::picoseconds(words_[0]);
    agreement.crossing = Time::picoseconds(words_[1]);
    agreement.progress = words_[2];
    agreement.failed = words_[3] == 0;
    agreement.pulse = words_[4] == 0;
    return agreement;
  }

 private:
  std::array<std::int64_t, 5> words_;
};

/// Calls start(first message, bytes) for every piece that one MPI call can carry: counts are ints, and a gigabyte stays
/// clear of their end.
template <typename Start>
void in_pieces(Message* messages, std::size_t count, Start start) {
  constexpr std::size_t most = (std::size_t{1} << 30) / sizeof(Message);
  for (std::size_t done = 0; done < count; done += most) {
    start(messages + done, static_cast<int>(std::min(count - done, most) * sizeof(Message)));
  }
}

}  // namespace proteus::engine
