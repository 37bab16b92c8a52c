// SPDX-License-Identifier: Apache-2.0
#include "proteus/engine/mpi_transport.hpp"

#include <numeric>
#include <stdexcept>
#include <string>

#include "mpi_support.hpp"

namespace proteus::engine {
namespace {

// On 2 to 4 ranks of one machine the ways cost the same within a factor of two, the collective least where everybody
// talks to everybody. Neither a collective that tells every rank about every other nor a message to each neighbour in
// every window stays cheap beyond a few tens of them.
constexpr int kFewRanks = 32;

int ranks_of(MPI_Comm communicator) {
  int ranks = 1;
  check_mpi(MPI_Comm_size(communicator, &ranks), "MPI_Comm_size");
  return ranks;
}

int rank_of(MPI_Comm communicator) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  return rank;
}

/// Every rank tells its destinations; who is one knows a source.
MpiNeighbours find_neighbours(MPI_Comm communicator, const std::optional<std::vector<int>>& destinations) {
  const int ranks = ranks_of(communicator);
  const int own = rank_of(communicator);
  std::vector<char> sends(static_cast<std::size_t>(ranks), destinations ? 0 : 1);
  if (destinations) {
    for (int rank : *destinations) sends.at(static_cast<std::size_t>(rank)) = 1;
  }
  std::vector<char> receives(sends.size());
  check_mpi(MPI_Alltoall(sends.data(), 1, MPI_CHAR, receives.data(), 1, MPI_CHAR, communicator), "MPI_Alltoall");
  MpiNeighbours neighbours;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == own) continue;
    if (sends[static_cast<std::size_t>(rank)] != 0) neighbours.destinations.push_back(rank);
    if (receives[static_cast<std::size_t>(rank)] != 0) neighbours.sources.push_back(rank);
  }
  return neighbours;
}

MpiExchange choose(MPI_Comm communicator, const MpiNeighbours& neighbours) {
  // The fewest destinations and, as negative numbers, the most neighbours of any kind.
  int counts[2]{static_cast<int>(neighbours.destinations.size()),
                -static_cast<int>(std::max(neighbours.destinations.size(), neighbours.sources.size()))};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT, MPI_MIN, communicator), "MPI_Allreduce");
  const int ranks = ranks_of(communicator);
  if (ranks <= kFewRanks && counts[0] == ranks - 1) return MpiExchange::all_to_all;
  return -counts[1] <= kFewRanks ? MpiExchange::neighbours : MpiExchange::sparse;
}

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm communicator, const std::optional<std::vector<int>>& destinations, MpiExchange exchange) {
    check_mpi(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    rank_ = rank_of(communicator_);
    ranks_ = ranks_of(communicator_);
    MpiNeighbours neighbours = find_neighbours(communicator_, destinations);
    may_send_.assign(static_cast<std::size_t>(ranks_), false);
    may_send_[static_cast<std::size_t>(rank_)] = true;
    for (int rank : neighbours.destinations) may_send_[static_cast<std::size_t>(rank)] = true;
    if (exchange == MpiExchange::automatic) exchange = choose(communicator_, neighbours);
    switch (exchange) {
      case MpiExchange::automatic:
      case MpiExchange::all_to_all:
        round_ = make_all_to_all_round(communicator_);
        break;
      case MpiExchange::neighbours:
        round_ = make_neighbour_round(communicator_, std::move(neighbours));
        break;
      case MpiExchange::sparse:
        round_ = make_sparse_round(communicator_);
        break;
    }
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
    for (std::size_t rank = 0; rank < mailbox.out.size(); ++rank) {
      if (may_send_[rank] || mailbox.out[rank].empty()) continue;
      throw std::logic_error("rank " + std::to_string(rank_) + " has messages for rank " + std::to_string(rank) +
                             ", which is not its neighbour");
    }
    return round_->run(mailbox);
  }

  std::vector<std::string> gather(std::span<const std::string> local) override {
    if (local.size() != 1) throw std::invalid_argument("under MPI a process is one rank");
    int length = static_cast<int>(local[0].size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks_));
    check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator_), "MPI_Allgather");
    std::vector<int> offsets(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    check_mpi(MPI_Allgatherv(local[0].data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                             communicator_),
              "MPI_Allgatherv");
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]), static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
  }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<bool> may_send_;
  std::unique_ptr<MpiRound> round_;
};

}  // namespace

void check_mpi(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw std::runtime_error(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator,
                                              const std::optional<std::vector<int>>& destinations,
                                              MpiExchange exchange) {
  return std::make_unique<MpiTransport>(communicator, destinations, exchange);
}

}  // namespace proteus::engine
