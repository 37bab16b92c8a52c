// SPDX-License-Identifier: Apache-2.0
#include "mpi_support.hpp"

namespace proteus::engine {
namespace {

// What MPI sends without asking the receiver first, in its usual settings.
constexpr std::size_t kParcelBytes = 4096;
constexpr int kParcelTag = 0;
constexpr int kRestTag = 1;

/// What goes to a neighbour in every window: how many messages there are, and as many as fit. The rest follows.
struct Parcel {
  static constexpr std::size_t kMost = (kParcelBytes - sizeof(std::uint64_t)) / sizeof(Message);

  std::uint64_t count = 0;
  Message messages[kMost];

  std::size_t inside() const { return std::min<std::size_t>(count, kMost); }
  int bytes() const { return static_cast<int>(sizeof count + inside() * sizeof(Message)); }
};
static_assert(sizeof(Parcel) <= kParcelBytes);
static_assert(sizeof(Parcel) == sizeof(std::uint64_t) + Parcel::kMost * sizeof(Message));

class NeighbourRound final : public MpiRound {
 public:
  NeighbourRound(MPI_Comm communicator, MpiNeighbours neighbours)
      : communicator_(communicator),
        neighbours_(std::move(neighbours)),
        sent_(neighbours_.destinations.size()),
        received_(neighbours_.sources.size()) {
    check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
  }

  Agreement run(Mailbox& mailbox) override {
    start(mailbox);
    AgreementWords words(mailbox);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, words.data(), words.size(), MPI_INT64_T, MPI_MIN, communicator_),
              "MPI_Allreduce");
    wait();
    take(mailbox);
    return words.agreement();
  }

 private:
  void start(Mailbox& mailbox) {
    for (std::size_t i = 0; i < received_.size(); ++i) {
      check_mpi(MPI_Irecv(&received_[i], sizeof(Parcel), MPI_BYTE, neighbours_.sources[i], kParcelTag, communicator_,
                          &request()),
                "MPI_Irecv");
    }
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      const int peer = neighbours_.destinations[i];
      auto& messages = mailbox.out[static_cast<std::size_t>(peer)];
      Parcel& parcel = sent_[i];
      parcel.count = messages.size();
      std::copy_n(messages.begin(), parcel.inside(), parcel.messages);
      check_mpi(MPI_Isend(&parcel, parcel.bytes(), MPI_BYTE, peer, kParcelTag, communicator_, &request()), "MPI_Isend");
    }
  }

  /// Unpacks the parcels and lets what did not fit follow.
  void take(Mailbox& mailbox) {
    auto& own = mailbox.out[static_cast<std::size_t>(rank_)];
    mailbox.in.assign(own.begin(), own.end());
    std::size_t rest = 0;
    for (const Parcel& parcel : received_) {
      mailbox.in.insert(mailbox.in.end(), parcel.messages, parcel.messages + parcel.inside());
      rest += parcel.count - parcel.inside();
    }
    std::size_t position = mailbox.in.size();
    mailbox.in.resize(position + rest);
    for (std::size_t i = 0; i < received_.size(); ++i) {
      const std::size_t count = received_[i].count - received_[i].inside();
      in_pieces(mailbox.in.data() + position, count, [this, i](Message* piece, int bytes) {
        check_mpi(MPI_Irecv(piece, bytes, MPI_BYTE, neighbours_.sources[i], kRestTag, communicator_, &request()),
                  "MPI_Irecv");
      });
      position += count;
    }
    for (int peer : neighbours_.destinations) {
      auto& messages = mailbox.out[static_cast<std::size_t>(peer)];
      const std::size_t inside = std::min(messages.size(), Parcel::kMost);
      in_pieces(messages.data() + inside, messages.size() - inside, [this, peer](Message* piece, int bytes) {
        check_mpi(MPI_Isend(piece, bytes, MPI_BYTE, peer, kRestTag, communicator_, &request()), "MPI_Isend");
      });
    }
    wait();
    own.clear();
    for (int peer : neighbours_.destinations) mailbox.out[static_cast<std::size_t>(peer)].clear();
  }

  MPI_Request& request() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  void wait() {
    if (requests_.empty()) return;
    check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
  }

  MPI_Comm communicator_;
  MpiNeighbours neighbours_;
  int rank_ = 0;
  std::vector<Parcel> sent_;
  std::vector<Parcel> received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<MpiRound> make_neighbour_round(MPI_Comm communicator, MpiNeighbours neighbours) {
  return std::make_unique<NeighbourRound>(communicator, std::move(neighbours));
}

}  // namespace proteus::engine
