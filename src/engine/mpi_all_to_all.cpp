// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "mpi_support.hpp"

namespace proteus::engine {
namespace {

/// What one rank tells one other: the bound and the size of what follows in one collective (one latency a window).
struct Header {
  std::int64_t promise_ps = 0;
  std::int64_t progress = 0;
  std::int64_t crossing_ps = 0;
  std::uint64_t count = 0;
  std::uint32_t failed = 0;
  std::uint32_t pulse = 0;
};

constexpr int kTag = 0;

class AllToAllRound final : public MpiRound {
 public:
  explicit AllToAllRound(MPI_Comm communicator) : communicator_(communicator) {
    check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(communicator_, &ranks_), "MPI_Comm_size");
    sent_.resize(static_cast<std::size_t>(ranks_));
    received_.resize(static_cast<std::size_t>(ranks_));
  }

  Agreement run(Mailbox& mailbox) override {
    exchange_headers(mailbox);
    deliver(mailbox);
    Agreement agreement;
    agreement.bound = Time::infinity();
    agreement.progress = std::numeric_limits<std::int64_t>::max();
    for (const Header& header : received_) {
      agreement.bound = std::min(agreement.bound, Time::picoseconds(header.promise_ps));
      agreement.progress = std::min(agreement.progress, header.progress);
      agreement.crossing = std::min(agreement.crossing, Time::picoseconds(header.crossing_ps));
      agreement.pulse = agreement.pulse || header.pulse != 0;
      agreement.failed = agreement.failed || header.failed != 0;
    }
    return agreement;
  }

 private:
  void exchange_headers(const Mailbox& mailbox) {
    for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
      sent_[rank] = {.promise_ps = mailbox.promise.ps(),
                     .progress = mailbox.progress,
                     .crossing_ps = mailbox.crossing.ps(),
                     .count = mailbox.out[rank].size(),
                     .failed = mailbox.failed ? 1U : 0U,
                     .pulse = mailbox.pulse ? 1U : 0U};
    }
    check_mpi(
        MPI_Alltoall(sent_.data(), sizeof(Header), MPI_BYTE, received_.data(), sizeof(Header), MPI_BYTE, communicator_),
        "MPI_Alltoall");
  }

  void deliver(Mailbox& mailbox) {
    std::size_t total = 0;
    for (const Header& header : received_) total += header.count;
    mailbox.in.resize(total);
    requests_.clear();
    Message* position = mailbox.in.data();
    for (int peer = 0; peer < ranks_; ++peer) {
      const std::size_t count = received_[static_cast<std::size_t>(peer)].count;
      if (peer == rank_) {
        std::ranges::copy(mailbox.out[static_cast<std::size_t>(peer)], position);
      } else {
        in_pieces(position, count, [this, peer](Message* piece, int bytes) {
          check_mpi(MPI_Irecv(piece, bytes, MPI_BYTE, peer, kTag, communicator_, &request()), "MPI_Irecv");
        });
      }
      position += count;
    }
    for (int peer = 0; peer < ranks_; ++peer) {
      auto& messages = mailbox.out[static_cast<std::size_t>(peer)];
      if (peer == rank_) continue;
      in_pieces(messages.data(), messages.size(), [this, peer](Message* piece, int bytes) {
        check_mpi(MPI_Isend(piece, bytes, MPI_BYTE, peer, kTag, communicator_, &request()), "MPI_Isend");
      });
    }
    check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    for (auto& messages : mailbox.out) messages.clear();
  }

  MPI_Request& request() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  MPI_Comm communicator_;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<Header> sent_;
  std::vector<Header> received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<MpiRound> make_all_to_all_round(MPI_Comm communicator) {
  return std::make_unique<AllToAllRound>(communicator);
}

}  // namespace proteus::engine
