// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jitter.hpp"
#include "proteus/executor/folding.hpp"
#include "proteus/executor/run.hpp"
#include "proteus/partition/objects.hpp"
#include "reach.hpp"

namespace proteus::executor {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// One collective on communicators of one placement, in the units of the executor.
struct Price {
  bool known = false;
  bool network = false;  ///< occupies links: of the fabric between islands, NVLink inside one
  std::int64_t latency_ps = 0;
  std::int64_t transfer_ps = 0;  ///< alone on the links
  std::int64_t slowed_ps = 0;    ///< the same beside compute
  /// What each leg between logical processes takes out of the latency: device to communicator, communicator to domain
  /// and back; the rest is left for the way to the devices.
  std::int64_t leg_ps = 0;
  double bandwidth = 0;  ///< bytes of size per second, alone
  double nic_bytes = 0;
  double nvlink_bytes = 0;

  std::int64_t transfer(bool beside_compute) const { return beside_compute ? slowed_ps : transfer_ps; }
};

/// Devices that meet in one communicator, numbered: all of a group, or those that stand for them.
class Members {
 public:
  Members(const graph::CommunicatorFamily& family, std::int64_t group) : family_(&family), group_(group) {}
  explicit Members(std::span<const std::int64_t> folded) : folded_(folded) {}

  std::int64_t count() const { return family_ != nullptr ? family_->members() : std::ssize(folded_); }
  std::int64_t device(std::int64_t member) const {
    return family_ != nullptr ? family_->device(group_, member) : folded_[static_cast<std::size_t>(member)];
  }
  /// `device` is one of them.
  std::int64_t number_of(std::int64_t device) const {
    if (family_ != nullptr) return family_->locate(device)->member;
    return std::lower_bound(folded_.begin(), folded_.end(), device) - folded_.begin();
  }

 private:
  const graph::CommunicatorFamily* family_ = nullptr;
  std::int64_t group_ = 0;
  std::span<const std::int64_t> folded_;
};

/// What all logical processes of a rank look up and nobody changes.
class Tables {
 public:
  /// `rank`: whose devices ask for their reach.
  Tables(const graph::Job& the_job, const cluster::Cluster& the_cluster, Options the_options,
         const partition::Assignment& assignment, int rank);

  const graph::Job& job;
  const cluster::Cluster& cluster;
  const Options options;
  const std::shared_ptr<const partition::Objects> objects;
  const Jitter jitter;
  std::int64_t lookahead_ps = never;  ///< shortest delay of any message between logical processes

  /// `spanning`: the communicator leaves its island. Throws SimulationError where there is no price.
  const Price& price(std::uint32_t collective, std::uint32_t placement, bool spanning) const;
  /// Whether the group of `device` that runs `collective` leaves its island.
  bool spans(std::uint32_t collective, std::int64_t device) const;
  /// Delay that the user added to a compute op, in ps.
  std::int64_t delay(std::int64_t device, std::int64_t position) const;
  bool has_delays(std::int64_t device) const;

  /// The communicator that is simulated in place of this one.
  std::uint32_t communicator(std::uint32_t object) const;
  /// By which placement a simulated communicator is priced.
  std::uint32_t placement(std::uint32_t communicator) const;
  /// Simulated domains whose links a simulated communicator loads.
  std::span<const std::uint32_t> domains(std::uint32_t communicator) const;
  /// Whether its transfers move by agreement of several domains. Copies of it do the same, so folding must not change
  /// it.
  bool spreads(std::uint32_t communicator) const {
    return objects->domains_of(communicator).size() > 1 || domains(communicator).size() > 1;
  }
  /// Who meets in a communicator.
  Members members(std::uint32_t communicator) const;

  /// Of all collectives of a simulated communicator.
  std::int64_t shortest_leg_ps(std::uint32_t communicator) const;
  /// By object, whether it is a communicator with something on another rank.
  const std::vector<bool>& open() const { return open_; }
  /// What an island of this rank promises, and what else it runs with other islands.
  struct Reaches {
    std::unique_ptr<const Reach> open;
    std::unique_ptr<const Reach> closed;
    std::vector<bool> always_open;  ///< by collective: open for every device of the island that runs it
  };
  const Reaches& reaches(std::uint32_t island) const { return *island_reaches_.at(island); }
  /// How long news of another rate takes for a transfer over several domains.
  static std::int64_t follows_ps(const Price& price) {
    return std::max(price.leg_ps, price.transfer_ps / follows_within);
  }

  /// "all-reduce 'layers[3].attention.proj' of 1024 B on tp #5"; `group` < 0 leaves the number out.
  std::string describe(std::uint32_t collective, std::int64_t group) const;
  /// The same without "all-reduce".
  std::string describe_call(std::uint32_t collective, std::int64_t group) const;
  /// "device 3 (stage 1)", or "device 3" where there are no stages.
  std::string describe_device(std::int64_t device) const;

 private:
  std::vector<std::vector<Price>> inner_;  ///< by collective and placement
  std::vector<std::vector<Price>> spanning_;
  std::vector<std::int8_t> spans_;  ///< by family: 1 all groups, 0 none, -1 some
  std::vector<Delay> delays_;       ///< by device and position
  void find_reach(const partition::Assignment& assignment, int rank);
  std::vector<bool> open_;
  std::vector<std::unique_ptr<const Reaches>> reaches_;
  std::map<std::uint32_t, const Reaches*> island_reaches_;

  /// A transfer over several domains follows the rates of their links within this part of the time that it takes alone:
  /// what moves between replicas is long, and learns of what moves within one at its own pace.
  static constexpr std::int64_t follows_within = 100;
};

/// The stream under which the members of a collective meet: sender and receiver of a pipeline use two.
inline graph::Stream lane_of(graph::Stream stream) {
  if (stream == graph::Stream::forward_receive) return graph::Stream::forward_send;
  if (stream == graph::Stream::backward_receive) return graph::Stream::backward_send;
  return stream;
}

}  // namespace proteus::executor
