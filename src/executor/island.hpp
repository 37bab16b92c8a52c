// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "fluid_network.hpp"
#include "ledger.hpp"
#include "proteus/engine/logical_process.hpp"
#include "rendezvous.hpp"

namespace proteus::executor {

/// Devices joined by NVLink, with the communicators that lie inside: they know each other's state without delay.
class Island final : public engine::LogicalProcess, public Reporting {
 public:
  Island(std::shared_ptr<const Tables> tables, std::uint32_t object, RowSink* sink);

  void start(engine::Scheduler& scheduler) override;
  void handle(const engine::Event& event, engine::Scheduler& scheduler) override;
  engine::Promise promise() const override;
  bool finished() const override;
  std::vector<std::string> blocked() const override;
  std::optional<std::uint64_t> first_wait() const override;
  engine::WaitLink wait_at(std::uint64_t place) const override;
  std::string name() const override;

  void report(Result& result) const override;

 private:
  /// A communicator inside the island.
  struct Group {
    std::uint32_t family = 0;
    std::int64_t group = 0;
    std::uint32_t placement = 0;
    std::vector<std::uint32_t> members;      ///< devices of the island
    std::vector<FluidNetwork::Use> ports;    ///< in and out of every member
    std::vector<FluidNetwork::Use> one_way;  ///< out of member 0 and into member 1
    Lanes lanes;
  };
  struct Ending {
    std::int64_t time_ps = 0;
    std::uint32_t group = 0;
    std::uint32_t lane = 0;
  };
  struct Poll {
    std::int64_t time_ps = never;
    std::uint32_t version = 0;
  };

  void find_groups();
  void add_group(std::uint32_t family, std::int64_t group);
  std::uint32_t group_index(std::uint32_t family, std::int64_t group) const;

  /// Lets a device do whatever it can do now, and sees to it that it is asked again in time.
  void advance(std::uint32_t device, engine::Scheduler& scheduler);
  void launch(std::uint32_t device, graph::Stream stream, engine::Scheduler& scheduler);
  /// Number of one of its devices in a communicator with other islands.
  std::uint32_t member_of(std::uint32_t communicator, const graph::CommunicatorFamily::Place& place,
                          std::int64_t device) const;
  void poll(std::uint32_t device, std::int64_t time_ps, engine::Scheduler& scheduler);
  /// All members of an inner communicator are there.
  void begin(std::uint32_t group, Rendezvous& rendezvous, engine::Scheduler& scheduler);
  void end_at(std::int64_t time_ps, std::uint32_t group, std::uint32_t lane, engine::Scheduler& scheduler);
  void end(std::uint32_t group, std::uint32_t lane, engine::Scheduler& scheduler);
  void transfers_ended(engine::Scheduler& scheduler);
  void watch_ports(engine::Scheduler& scheduler);
  /// Of the chain of a deadlock.
  engine::WaitLink stream_waits(std::uint32_t device, graph::Stream stream) const;
  engine::WaitLink call_waits(std::uint32_t device, std::uint32_t family, graph::Stream lane) const;
  /// The next event of its own that changes anything; never if there is none.
  std::int64_t earliest_ps() const;

  std::shared_ptr<const Tables> tables_;
  std::uint32_t object_;
  std::vector<Device> devices_;
  std::vector<Poll> polls_;
  std::vector<Group> groups_;  ///< by family and group
  FluidNetwork ports_;
  std::int64_t ports_watched_ps_ = never;
  std::uint32_t ports_version_ = 0;
  std::vector<Ending> endings_;
  Ledger ledger_;
};

}  // namespace proteus::executor
