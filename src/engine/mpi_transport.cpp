// SPDX-License-Identifier: Apache-2.0
#include "proteus/engine/mpi_transport.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

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

// Counts of MPI are ints; a gigabyte a message stays clear of their end.
constexpr std::size_t kMostEventsAMessage = (std::size_t{1} << 30) / sizeof(Message);
constexpr int kTag = 0;

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw std::runtime_error(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm communicator) {
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(communicator_, &ranks_), "MPI_Comm_size");
    sent_.resize(static_cast<std::size_t>(ranks_));
    received_.resize(static_cast<std::size_t>(ranks_));
  }

  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  ~MpiTransport() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&communicator_);
  }

  int ranks() const override { return ranks_; }

  Agreement exchange(std::span<Mailbox> local) override {
    if (local.size() != 1 || local[0].rank != rank_) {
      throw std::invalid_argument("under MPI a process is one rank, the one that MPI gave it");
    }
    Mailbox& mailbox = local[0];
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

  std::vector<std::string> gather(std::span<const std::string> local) override {
    if (local.size() != 1) throw std::invalid_argument("under MPI a process is one rank");
    int length = static_cast<int>(local[0].size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks_));
    check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator_), "MPI_Allgather");
    std::vector<int> offsets(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    check(MPI_Allgatherv(local[0].data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                         communicator_),
          "MPI_Allgatherv");
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]), static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
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
    check(
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
      std::size_t count = received_[static_cast<std::size_t>(peer)].count;
      if (peer == rank_) {
        std::ranges::copy(mailbox.out[static_cast<std::size_t>(peer)], position);
      } else {
        in_pieces(position, count, [this, peer](Message* piece, int bytes, MPI_Request* request) {
          check(MPI_Irecv(piece, bytes, MPI_BYTE, peer, kTag, communicator_, request), "MPI_Irecv");
        });
      }
      position += count;
    }
    for (int peer = 0; peer < ranks_; ++peer) {
      auto& events = mailbox.out[static_cast<std::size_t>(peer)];
      if (peer == rank_) continue;
      in_pieces(events.data(), events.size(), [this, peer](Message* piece, int bytes, MPI_Request* request) {
        check(MPI_Isend(piece, bytes, MPI_BYTE, peer, kTag, communicator_, request), "MPI_Isend");
      });
    }
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    for (auto& events : mailbox.out) events.clear();
  }

  template <typename Start>
  void in_pieces(Message* events, std::size_t count, Start start) {
    for (std::size_t done = 0; done < count; done += kMostEventsAMessage) {
      std::size_t piece = std::min(count - done, kMostEventsAMessage);
      start(events + done, static_cast<int>(piece * sizeof(Message)), &requests_.emplace_back(MPI_REQUEST_NULL));
    }
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<Header> sent_;
  std::vector<Header> received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator) {
  return std::make_unique<MpiTransport>(communicator);
}

}  // namespace proteus::engine
