// SPDX-License-Identifier: Apache-2.0
#include "mpi_support.hpp"

namespace proteus::engine {
namespace {

/// Dynamic sparse data exchange (Hoefler, Siebert, Lumsdaine: Scalable Communication Protocols for Dynamic Sparse Data
/// Exchange, PPoPP 2010), with the reduction of the bound in place of its barrier: synchronous sends end when they are
/// received, a rank enters the reduction when all of its sends have ended, so all messages are there when it is
/// through.
class SparseRound final : public MpiRound {
 public:
  explicit SparseRound(MPI_Comm communicator) : communicator_(communicator) {
    check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
  }

  Agreement run(Mailbox& mailbox) override {
    // A rank that is through may send for the next round while another still receives for this one, but not further.
    tag_ = 1 - tag_;
    auto& own = mailbox.out[static_cast<std::size_t>(rank_)];
    mailbox.in.assign(own.begin(), own.end());
    own.clear();
    start(mailbox);
    AgreementWords words(mailbox);
    MPI_Request reduction = MPI_REQUEST_NULL;
    bool reducing = false;
    int done = 0;
    while (done == 0) {
      receive(mailbox);
      if (reducing) {
        check_mpi(MPI_Test(&reduction, &done, MPI_STATUS_IGNORE), "MPI_Test");
      } else if (all_received()) {
        check_mpi(
            MPI_Iallreduce(MPI_IN_PLACE, words.data(), words.size(), MPI_INT64_T, MPI_MIN, communicator_, &reduction),
            "MPI_Iallreduce");
        reducing = true;
      }
    }
    for (int peer : peers_) mailbox.out[static_cast<std::size_t>(peer)].clear();
    return words.agreement();
  }

 private:
  void start(Mailbox& mailbox) {
    requests_.clear();
    peers_.clear();
    for (std::size_t peer = 0; peer < mailbox.out.size(); ++peer) {
      auto& messages = mailbox.out[peer];
      if (messages.empty()) continue;
      peers_.push_back(static_cast<int>(peer));
      in_pieces(messages.data(), messages.size(), [this](Message* piece, int bytes) {
        check_mpi(MPI_Issend(piece, bytes, MPI_BYTE, peers_.back(), tag_, communicator_,
                             &requests_.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Issend");
      });
    }
  }

  bool all_received() {
    if (requests_.empty()) return true;
    int done = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    return done != 0;
  }

  /// Whatever has come by now.
  void receive(Mailbox& mailbox) const {
    while (true) {
      int there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      check_mpi(MPI_Improbe(MPI_ANY_SOURCE, tag_, communicator_, &there, &message, &status), "MPI_Improbe");
      if (there == 0) return;
      int bytes = 0;
      check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      const std::size_t position = mailbox.in.size();
      mailbox.in.resize(position + static_cast<std::size_t>(bytes) / sizeof(Message));
      check_mpi(MPI_Mrecv(mailbox.in.data() + position, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    }
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  int tag_ = 0;
  std::vector<int> peers_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<MpiRound> make_sparse_round(MPI_Comm communicator) {
  return std::make_unique<SparseRound>(communicator);
}

}  // namespace proteus::engine
