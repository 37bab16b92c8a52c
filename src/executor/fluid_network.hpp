// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <span>
#include <vector>

#include "proteus/executor/run.hpp"
#include "tables.hpp"

namespace proteus::executor {

/// Sums of rates carry rounding errors of some 1e-16: rates that differ by less than this, relatively, are the same,
/// and what is fuller than this is full.
inline constexpr double rate_tolerance = 1e-9;

/// How long `work` takes at `rate` per second, in ps; never where that is longer than the clock lasts.
std::int64_t duration_ps(double work, double rate);

/// Transfers that share links. A transfer has work (bytes), a cap on its rate, and loads each of its links with
/// weight * rate. Rates are max-min fair under these constraints, exactly, or capacity over number of users
/// (NetworkMode::fair_share).
///
/// After start() and finish() of one instant, solve() must be called once before the next instant. Rates are
/// functions of the set of transfers alone: sums are taken in the order of keys, and work is settled only where a rate
/// changes.
class FluidNetwork {
 public:
  /// A transfer that stands for several may load a link more than once, in their places.
  struct Use {
    std::uint32_t link = 0;
    double weight = 0;        ///< > 0
    std::uint32_t order = 0;  ///< among the users of the link; ties go by key
  };

  FluidNetwork(std::vector<double> capacities, NetworkMode mode);

  /// `uses`, ascending by link, must outlive the transfer; `key` is not active; `cap` > 0, per second.
  void start(std::uint64_t key, double work, double cap, std::span<const Use> uses, std::int64_t now_ps);
  /// Another cap from `now_ps` on; counts as a start for solve().
  void set_cap(std::uint64_t key, double cap, std::int64_t now_ps);
  /// Takes out a transfer before its end; counts as an end for solve().
  void remove(std::uint64_t key);
  /// The rate that a transfer would get, if only `cap` held it back. After solve().
  double potential(std::uint64_t key, double cap);
  /// Takes out what has ended by `now_ps`: keys, ascending.
  std::vector<std::uint64_t> finish(std::int64_t now_ps);
  void solve(std::int64_t now_ps);

  /// When the next transfer ends at current rates; never if none does.
  std::int64_t next_ps() const;
  std::size_t active() const { return by_key_.size(); }
  double rate(std::uint64_t key) const { return transfers_[by_key_.at(key)].rate; }
  /// Load of a link at current rates.
  double load(std::uint32_t link) const;
  double capacity(std::uint32_t link) const { return links_[link].capacity; }

 private:
  struct Transfer {
    std::uint64_t key = 0;
    double cap = 0;
    double rate = 0;
    double work = 0;  ///< left at since_ps
    std::int64_t since_ps = 0;
    std::int64_t finish_ps = never;
    std::span<const Use> uses;
    std::uint32_t version = 0;  ///< of finish_ps
    bool in_component = false;
  };
  struct User {
    std::uint64_t key = 0;
    std::uint32_t order = 0;
    std::uint32_t slot = 0;
    double weight = 0;
  };
  /// Where the users of a link have, or would have, this one.
  static std::vector<User>::iterator place(std::vector<User>& users, std::uint32_t order, std::uint64_t key);
  struct Link {
    double capacity = 0;
    std::vector<User> users;  ///< by order and key
    bool in_component = false;
    // While a component is solved:
    double left = 0;         ///< capacity that fixed transfers leave
    double weight = 0;       ///< sum over transfers that are not fixed yet
    std::uint32_t open = 0;  ///< how many these are
  };
  struct Completion {
    std::int64_t time_ps = 0;
    std::uint64_t key = 0;
    std::uint32_t slot = 0;
    std::uint32_t version = 0;
    bool operator>(const Completion& other) const {
      return time_ps != other.time_ps ? time_ps > other.time_ps : key > other.key;
    }
  };

  void take_out(std::uint32_t slot);
  bool fits_at_cap(const Transfer& transfer) const;
  void collect_component(const std::vector<std::uint32_t>& seeds);
  void fill_max_min();
  void fix(std::uint32_t slot, double rate);
  double fair_share(const Transfer& transfer) const;
  void set_rate(std::uint32_t slot, double rate, std::int64_t now_ps);
  void drop_stale() const;

  NetworkMode mode_;
  std::vector<Link> links_;
  std::vector<Transfer> transfers_;  ///< slots
  std::vector<std::uint32_t> free_;
  std::map<std::uint64_t, std::uint32_t> by_key_;
  std::vector<std::uint64_t> started_;   ///< since the last solve
  std::vector<std::uint32_t> released_;  ///< links that were full and lost a transfer
  mutable std::priority_queue<Completion, std::vector<Completion>, std::greater<>> completions_;

  // Of the component being solved:
  std::vector<std::uint32_t> component_;        ///< slots, ascending keys
  std::vector<std::uint32_t> component_links_;  ///< ascending
  std::vector<double> rates_;                   ///< by slot; < 0 while open
};

}  // namespace proteus::executor
