// SPDX-License-Identifier: Apache-2.0
#include "spread_transfer.hpp"

#include <algorithm>
#include <cmath>

namespace proteus::executor {
namespace {

constexpr double picoseconds_per_second = 1e12;

bool same_rate(double a, double b) { return std::abs(a - b) <= rate_tolerance * b; }

}  // namespace

bool SpreadTransfer::offer(std::uint32_t domain, double rate, std::int64_t now_ps) {
  const auto place = std::lower_bound(domains_.begin(), domains_.end(), domain) - domains_.begin();
  offers_[static_cast<std::size_t>(place)] = rate;
  if (agreeing_ps_) return false;
  agreeing_ps_ = now_ps;
  return true;
}

std::vector<std::pair<std::uint32_t, double>> SpreadTransfer::agree(std::int64_t now_ps) {
  agreeing_ps_.reset();
  double rate = demand_.rate;
  for (const auto& offered : offers_) {
    if (!offered) return {};
    rate = std::min(rate, *offered);
  }
  if (!same_rate(rate, rate_)) {
    const double elapsed = static_cast<double>(now_ps - since_ps_) / picoseconds_per_second;
    demand_.work = std::max(0.0, demand_.work - rate_ * elapsed);
    since_ps_ = now_ps;
    rate_ = rate;
    const std::int64_t left = duration_ps(demand_.work, rate);
    end_ps_ = left == never ? never : now_ps + left;
    ++version_;
  }
  std::vector<std::pair<std::uint32_t, double>> grants;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const bool holds_back = *offers_[i] > rate_ && !same_rate(*offers_[i], rate_);
    const double cap = holds_back ? rate_ : demand_.rate;
    if (same_rate(cap, granted_[i].value_or(demand_.rate))) continue;
    granted_[i] = cap;
    grants.emplace_back(domains_[i], cap);
  }
  return grants;
}

std::int64_t SpreadTransfer::promise_ps() const {
  const std::int64_t next = std::min(end_ps_, agreeing_ps_.value_or(never));
  return next == never ? never : next + leg_ps_;
}

}  // namespace proteus::executor
