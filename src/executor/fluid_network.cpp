// SPDX-License-Identifier: Apache-2.0
#include "fluid_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace proteus::executor {
namespace {

constexpr double picoseconds_per_second = 1e12;
/// Where the fraction of a picosecond rounds up: far from every simple fraction, as bytes over rates often are. Equal
/// transfers may differ by some 1e-16 in their rates, by the order of sums, and must end in the same picosecond.
constexpr double rounds_up_from = 0.6180339887498949;  // the golden ratio
/// What would take longer, 23 days, does not end at this rate: such rates are what rounding leaves of a full link,
/// until somebody else ends. Simulated time ends soon behind that.
constexpr double longest_ps = 2e18;

}  // namespace

std::int64_t duration_ps(double work, double rate) {
  const double time = rate > 0 ? work / rate * picoseconds_per_second : longest_ps;
  return time < longest_ps ? static_cast<std::int64_t>(std::floor(time + (1 - rounds_up_from))) : never;
}

FluidNetwork::FluidNetwork(std::vector<double> capacities, NetworkMode mode) : mode_(mode), links_(capacities.size()) {
  for (std::size_t i = 0; i < capacities.size(); ++i) links_[i].capacity = capacities[i];
}

std::vector<FluidNetwork::User>::iterator FluidNetwork::place(std::vector<User>& users, std::uint32_t order,
                                                              std::uint64_t key) {
  return std::lower_bound(users.begin(), users.end(), std::pair(order, key), [](const User& user, const auto& sought) {
    return std::tie(user.order, user.key) < std::tie(sought.first, sought.second);
  });
}

void FluidNetwork::start(std::uint64_t key, double work, double cap, std::span<const Use> uses, std::int64_t now_ps) {
  std::uint32_t slot = static_cast<std::uint32_t>(transfers_.size());
  if (free_.empty()) {
    transfers_.emplace_back();
    rates_.push_back(0);
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  if (!by_key_.emplace(key, slot).second) throw std::logic_error("a transfer starts twice");
  Transfer& transfer = transfers_[slot];
  std::uint32_t version = transfer.version + 1;
  transfer = {key, cap, 0, work, now_ps, never, uses, version, false};
  for (const Use& use : uses) {
    auto& users = links_[use.link].users;
    users.insert(place(users, use.order, key), {key, use.order, slot, use.weight});
  }
  started_.push_back(key);
}

std::vector<std::uint64_t> FluidNetwork::finish(std::int64_t now_ps) {
  std::vector<std::uint64_t> keys;
  for (drop_stale(); !completions_.empty() && completions_.top().time_ps <= now_ps; drop_stale()) {
    Completion done = completions_.top();
    completions_.pop();
    take_out(done.slot);
    keys.push_back(done.key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

void FluidNetwork::take_out(std::uint32_t slot) {
  Transfer& transfer = transfers_[slot];
  for (const Use& use : transfer.uses) {
    Link& link = links_[use.link];
    if (mode_ == NetworkMode::fair_share || load(use.link) >= link.capacity * (1 - rate_tolerance)) {
      released_.push_back(use.link);
    }
    link.users.erase(place(link.users, use.order, transfer.key));
  }
  ++transfer.version;
  free_.push_back(slot);
  by_key_.erase(transfer.key);
}

void FluidNetwork::remove(std::uint64_t key) { take_out(by_key_.at(key)); }

void FluidNetwork::set_cap(std::uint64_t key, double cap, std::int64_t now_ps) {
  const std::uint32_t slot = by_key_.at(key);
  Transfer& transfer = transfers_[slot];
  transfer.cap = cap;
  for (const Use& use : transfer.uses) released_.push_back(use.link);
  if (transfer.uses.empty()) set_rate(slot, cap, now_ps);
}

double FluidNetwork::potential(std::uint64_t key, double cap) {
  const std::uint32_t slot = by_key_.at(key);
  Transfer& transfer = transfers_[slot];
  const double present = std::exchange(transfer.cap, cap);
  double rate = cap;
  if (mode_ == NetworkMode::fair_share) {
    rate = fair_share(transfer);
  } else if (!transfer.uses.empty()) {
    std::vector<std::uint32_t> seeds;
    for (const Use& use : transfer.uses) seeds.push_back(use.link);
    collect_component(seeds);
    fill_max_min();
    rate = rates_[slot];
  }
  transfer.cap = present;
  return rate;
}

void FluidNetwork::drop_stale() const {
  while (!completions_.empty() && transfers_[completions_.top().slot].version != completions_.top().version) {
    completions_.pop();
  }
}

std::int64_t FluidNetwork::next_ps() const {
  drop_stale();
  return completions_.empty() ? never : completions_.top().time_ps;
}

double FluidNetwork::load(std::uint32_t link) const {
  double sum = 0;
  for (const User& user : links_[link].users) sum += user.weight * transfers_[user.slot].rate;
  return sum;
}

bool FluidNetwork::fits_at_cap(const Transfer& transfer) const {
  for (std::size_t i = 0; i < transfer.uses.size();) {
    const std::uint32_t link = transfer.uses[i].link;
    double after = load(link);
    for (; i < transfer.uses.size() && transfer.uses[i].link == link; ++i) {
      after += transfer.uses[i].weight * transfer.cap;
    }
    if (after > links_[link].capacity * (1 + rate_tolerance)) return false;
  }
  return true;
}

void FluidNetwork::solve(std::int64_t now_ps) {
  std::vector<std::uint32_t> seeds = std::move(released_);
  released_.clear();
  std::sort(started_.begin(), started_.end());
  for (std::uint64_t key : started_) {
    std::uint32_t slot = by_key_.at(key);
    const Transfer& transfer = transfers_[slot];
    if (mode_ == NetworkMode::max_min && fits_at_cap(transfer)) {
      // Nobody is held back by links that stay below their capacity, so nobody else changes.
      set_rate(slot, transfer.cap, now_ps);
      continue;
    }
    for (const Use& use : transfer.uses) seeds.push_back(use.link);
    if (transfer.uses.empty()) set_rate(slot, transfer.cap, now_ps);
  }
  started_.clear();
  if (seeds.empty()) return;

  if (mode_ == NetworkMode::fair_share) {
    std::sort(seeds.begin(), seeds.end());
    seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
    for (std::uint32_t link : seeds) {
      for (const User& user : links_[link].users) set_rate(user.slot, fair_share(transfers_[user.slot]), now_ps);
    }
    return;
  }
  collect_component(seeds);
  fill_max_min();
  for (std::uint32_t slot : component_) set_rate(slot, rates_[slot], now_ps);
}

double FluidNetwork::fair_share(const Transfer& transfer) const {
  double rate = transfer.cap;
  for (const Use& use : transfer.uses) {
    const Link& link = links_[use.link];
    rate = std::min(rate, link.capacity / static_cast<double>(link.users.size()) / use.weight);
  }
  return rate;
}

void FluidNetwork::collect_component(const std::vector<std::uint32_t>& seeds) {
  component_.clear();
  component_links_.clear();
  auto add_link = [this](std::uint32_t link) {
    if (links_[link].in_component) return;
    links_[link].in_component = true;
    component_links_.push_back(link);
  };
  for (std::uint32_t link : seeds) add_link(link);
  for (std::size_t next = 0; next < component_links_.size(); ++next) {
    for (const User& user : links_[component_links_[next]].users) {
      Transfer& transfer = transfers_[user.slot];
      if (transfer.in_component) continue;
      transfer.in_component = true;
      component_.push_back(user.slot);
      for (const Use& use : transfer.uses) add_link(use.link);
    }
  }
  for (std::uint32_t link : component_links_) links_[link].in_component = false;
  for (std::uint32_t slot : component_) transfers_[slot].in_component = false;
  std::sort(component_.begin(), component_.end(),
            [this](std::uint32_t a, std::uint32_t b) { return transfers_[a].key < transfers_[b].key; });
  std::sort(component_links_.begin(), component_links_.end());
}

void FluidNetwork::fix(std::uint32_t slot, double rate) {
  rates_[slot] = rate;
  for (const Use& use : transfers_[slot].uses) {
    Link& link = links_[use.link];
    link.left = std::max(0.0, link.left - use.weight * rate);
    link.weight -= use.weight;
    --link.open;
  }
}

void FluidNetwork::fill_max_min() {
  for (std::uint32_t link : component_links_) {
    links_[link].left = links_[link].capacity;
    links_[link].weight = 0;
    links_[link].open = 0;
    for (const User& user : links_[link].users) {
      links_[link].weight += user.weight;
      ++links_[link].open;
    }
  }
  std::vector<std::uint32_t> open = component_;
  for (std::uint32_t slot : open) rates_[slot] = -1;
  std::vector<std::uint32_t> open_links = component_links_;

  // Progressive filling: all open rates rise together until a link is full or a cap is reached.
  while (!open.empty()) {
    double level = std::numeric_limits<double>::infinity();
    for (std::uint32_t slot : open) level = std::min(level, transfers_[slot].cap);
    std::erase_if(open_links, [this](std::uint32_t link) { return links_[link].open == 0; });
    std::uint32_t full = 0;
    bool by_link = false;
    for (std::uint32_t link : open_links) {
      double reach = links_[link].left / links_[link].weight;
      if (reach < level) {
        level = reach;
        full = link;
        by_link = true;
      }
    }
    if (by_link) {
      for (const User& user : links_[full].users) {
        if (rates_[user.slot] < 0) fix(user.slot, level);
      }
    } else {
      for (std::uint32_t slot : open) {
        if (transfers_[slot].cap <= level) fix(slot, transfers_[slot].cap);
      }
    }
    std::erase_if(open, [this](std::uint32_t slot) { return rates_[slot] >= 0; });
  }
}

void FluidNetwork::set_rate(std::uint32_t slot, double rate, std::int64_t now_ps) {
  Transfer& transfer = transfers_[slot];
  // A rate that differs by less than rounding errors is the same: settling for it would only add some of them.
  if (std::abs(rate - transfer.rate) <= rate_tolerance * transfer.rate) return;
  double elapsed = static_cast<double>(now_ps - transfer.since_ps) / picoseconds_per_second;
  transfer.work = std::max(0.0, transfer.work - transfer.rate * elapsed);
  transfer.since_ps = now_ps;
  transfer.rate = rate;
  const std::int64_t left = duration_ps(transfer.work, rate);
  transfer.finish_ps = left == never ? never : now_ps + left;
  ++transfer.version;
  if (transfer.finish_ps != never) completions_.push({transfer.finish_ps, transfer.key, slot, transfer.version});
}

}  // namespace proteus::executor
