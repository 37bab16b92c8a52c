// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fabric_load.hpp"

namespace proteus::executor {

/// One transfer over the links of several domains. Each domain offers the rate that its links would give; the transfer
/// moves at the smallest offer, and the other domains are told, so that they give away what it leaves. With what each
/// domain shares max-min fairly this settles at the max-min fair rates of all domains together, a leg or two behind
/// each change (as explicit-rate flow control does: Charny, Clark, Jain, ICC 1995).
class SpreadTransfer {
 public:
  /// `number`: among those of its communicator.
  SpreadTransfer(std::uint32_t number, graph::Stream lane, std::span<const std::uint32_t> domains, Demand demand,
                 std::int64_t leg_ps)
      : number_(number),
        lane_(lane),
        domains_(domains),
        demand_(demand),
        leg_ps_(leg_ps),
        offers_(domains.size()),
        granted_(domains.size()) {}

  /// True where no agreement of this instant is due yet: the caller sees to it that agree() follows.
  bool offer(std::uint32_t domain, double rate, std::int64_t now_ps);

  /// Moves on at the smallest offer, once all are there. Returns domains with the cap that they shall put on it.
  std::vector<std::pair<std::uint32_t, double>> agree(std::int64_t now_ps);

  /// When it ends at the present rate; never before all have offered.
  std::int64_t end_ps() const { return end_ps_; }
  /// Of end_ps(): an event made with another one is stale.
  std::uint32_t version() const { return version_; }
  std::int64_t leg_ps() const { return leg_ps_; }
  /// No message about it leaves before this, unless one comes.
  std::int64_t promise_ps() const;
  std::span<const std::uint32_t> domains() const { return domains_; }

  std::uint32_t number() const { return number_; }
  graph::Stream lane() const { return lane_; }

 private:
  std::uint32_t number_;
  graph::Stream lane_;
  std::span<const std::uint32_t> domains_;
  Demand demand_;  ///< work: what is left at since_ps_
  std::int64_t leg_ps_;
  std::vector<std::optional<double>> offers_;
  std::vector<std::optional<double>> granted_;
  std::optional<std::int64_t> agreeing_ps_;
  double rate_ = 0;
  std::int64_t since_ps_ = 0;
  std::int64_t end_ps_ = never;
  std::uint32_t version_ = 0;
};

}  // namespace proteus::executor
