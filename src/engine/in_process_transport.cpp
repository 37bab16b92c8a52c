// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>

#include "proteus/engine/transport.hpp"

namespace proteus::engine {
namespace {

class InProcessTransport final : public Transport {
 public:
  InProcessTransport(int ranks, std::optional<std::uint64_t> seed) : ranks_(ranks) {
    if (ranks < 1) throw std::invalid_argument("a transport needs at least one rank");
    if (seed) random_.emplace(*seed);
  }

  int ranks() const override { return ranks_; }

  Agreement exchange(std::span<Mailbox> local) override {
    check(local.size());
    Agreement agreement;
    agreement.bound = Time::infinity();
    agreement.progress = std::numeric_limits<std::int64_t>::max();
    for (Mailbox& mailbox : local) {
      agreement.bound = std::min(agreement.bound, mailbox.promise);
      agreement.progress = std::min(agreement.progress, mailbox.progress);
      agreement.crossing = std::min(agreement.crossing, mailbox.crossing);
      agreement.pulse = agreement.pulse || mailbox.pulse;
      agreement.failed = agreement.failed || mailbox.failed;
      mailbox.in.clear();
    }
    for (Mailbox& sender : local) {
      for (std::size_t destination = 0; destination < sender.out.size(); ++destination) {
        auto& events = sender.out[destination];
        auto& in = local[destination].in;
        in.insert(in.end(), events.begin(), events.end());
        events.clear();
      }
    }
    if (random_) {
      for (Mailbox& mailbox : local) std::ranges::shuffle(mailbox.in, *random_);
    }
    return agreement;
  }

  std::vector<std::string> gather(std::span<const std::string> local) override {
    check(local.size());
    return {local.begin(), local.end()};
  }

 private:
  void check(std::size_t given) const {
    if (given != static_cast<std::size_t>(ranks_)) {
      throw std::invalid_argument("all ranks of an in-process transport must take part together");
    }
  }

  int ranks_;
  std::optional<std::mt19937_64> random_;
};

}  // namespace

std::unique_ptr<Transport> make_in_process_transport(int ranks) {
  return std::make_unique<InProcessTransport>(ranks, std::nullopt);
}

std::unique_ptr<Transport> make_shuffling_transport(int ranks, std::uint64_t seed) {
  return std::make_unique<InProcessTransport>(ranks, seed);
}

}  // namespace proteus::engine
