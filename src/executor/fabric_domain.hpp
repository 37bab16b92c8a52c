// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric_load.hpp"
#include "proteus/engine/logical_process.hpp"

namespace proteus::executor {

/// Links between islands that the same collectives use, and the collectives that move over them now.
class FabricDomain final : public engine::LogicalProcess {
 public:
  FabricDomain(std::shared_ptr<const Tables> tables, std::uint32_t object);

  void start(engine::Scheduler&) override {}
  void handle(const engine::Event& event, engine::Scheduler& scheduler) override;
  /// Its next completion at current rates: a start that could change them is covered by who sends it.
  engine::Promise promise() const override;
  bool finished() const override { return active_.empty() && spreads_.empty(); }
  std::vector<std::string> blocked() const override;
  std::string name() const override;

 private:
  /// How collectives of one kind load the links, for each byte on the busiest NIC.
  struct Footprint {
    double busiest = 0;  ///< members that share the busiest NIC
    std::vector<FluidNetwork::Use> uses;
  };
  struct Active {
    std::uint32_t communicator = 0;
    std::uint32_t lane = 0;
    std::int64_t leg_ps = 0;
  };

  /// A transfer that also uses links of other domains; see SpreadTransfer.
  struct SharedTransfer {
    std::uint32_t communicator = 0;
    std::uint32_t number = 0;  ///< that the communicator gave it
    std::int64_t leg_ps = 0;
    std::int64_t follows_ps = 0;  ///< news of another rate takes so long
    double cap = 0;               ///< alone
    double granted = 0;           ///< cap that its communicator put on it
    double offered = 0;
    bool on_nics = false;  ///< loads no links here that nodes share
  };

  FluidNetwork make_network();
  const Footprint& footprint(std::uint32_t communicator, cost::Collective kind);
  bool on_nics(const Footprint& print) const;
  void begin(const engine::Event& event, engine::Scheduler& scheduler);
  void grant(const engine::Event& event, engine::Scheduler& scheduler);
  /// Tells the communicators that move over several domains what this one would give.
  void make_offers(engine::Scheduler& scheduler);
  void finish(engine::Scheduler& scheduler);
  void solve_at_end_of_instant(engine::Scheduler& scheduler);
  void watch(engine::Scheduler& scheduler);

  std::shared_ptr<const Tables> tables_;
  std::uint32_t object_;
  std::vector<std::uint32_t> links_;  ///< numbers in FabricLinks, ascending
  FluidNetwork network_;
  std::map<std::pair<std::uint32_t, cost::Collective>, Footprint> footprints_;
  std::map<std::uint64_t, Active> active_;  ///< by key in the network
  std::map<std::uint64_t, SharedTransfer> spreads_;
  bool solving_ = false;  ///< changes of instant_ps_ are not solved yet
  std::int64_t instant_ps_ = 0;
  std::int64_t watched_ps_ = never;
  std::uint32_t version_ = 0;
};

}  // namespace proteus::executor
