// SPDX-License-Identifier: Apache-2.0
#include "delaying_transport.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace proteus::property {
namespace {

class DelayingTransport final : public engine::Transport {
 public:
  DelayingTransport(int ranks, std::uint64_t seed)
      : inner_(engine::make_shuffling_transport(ranks, seed)), random_(seed), late_(static_cast<std::size_t>(ranks)) {}

  int ranks() const override { return inner_->ranks(); }

  engine::Agreement exchange(std::span<engine::Mailbox> local) override {
    // Who sent a message promised nothing later than the answers to it, once: what is or was late answers for itself.
    Time earliest = Time::infinity();
    std::vector<std::vector<engine::Message>> late(late_.size());
    for (engine::Mailbox& sender : local) {
      for (std::size_t destination = 0; destination < sender.out.size(); ++destination) {
        auto& out = sender.out[destination];
        // What is late already travels with the first rank: senders are named in the messages.
        if (&sender == local.data()) {
          for (const engine::Message& message : late_[destination]) earliest = std::min(earliest, message.time());
          out.insert(out.end(), late_[destination].begin(), late_[destination].end());
        }
        std::erase_if(out, [&](const engine::Message& message) {
          if (random_() % 3 != 0) return false;
          earliest = std::min(earliest, message.time());
          late[destination].push_back(message);
          return true;
        });
      }
    }
    late_ = std::move(late);
    engine::Agreement agreement = inner_->exchange(local);
    agreement.bound = std::min(agreement.bound, earliest);
    return agreement;
  }

  std::vector<std::string> gather(std::span<const std::string> local) override { return inner_->gather(local); }

 private:
  std::unique_ptr<engine::Transport> inner_;
  std::mt19937_64 random_;
  std::vector<std::vector<engine::Message>> late_;  ///< by destination
};

}  // namespace

std::unique_ptr<engine::Transport> make_delaying_transport(int ranks, std::uint64_t seed) {
  return std::make_unique<DelayingTransport>(ranks, seed);
}

}  // namespace proteus::property
