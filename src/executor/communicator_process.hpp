// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ledger.hpp"
#include "proteus/engine/logical_process.hpp"
#include "rendezvous.hpp"
#include "spread_transfer.hpp"

namespace proteus::executor {

/// A communicator whose members lie on several islands. The latency of its collectives is spent on the ways: a leg from
/// the devices, one to the fabric and one back, the rest to the devices.
class CommunicatorProcess final : public engine::LogicalProcess, public Reporting {
 public:
  CommunicatorProcess(std::shared_ptr<const Tables> tables, std::uint32_t object);

  void start(engine::Scheduler&) override {}
  void handle(const engine::Event& event, engine::Scheduler& scheduler) override;
  /// It only answers messages, but for the ends of its transfers over several domains.
  engine::Promise promise() const override;
  bool finished() const override;
  std::vector<std::string> blocked() const override;
  engine::WaitLink wait_at(std::uint64_t place) const override;
  std::string name() const override;

  void report(Result& result) const override;

 private:
  void begin(Rendezvous& rendezvous, std::int64_t now, engine::Scheduler& scheduler);
  void spread(Rendezvous& rendezvous, const Price& price, std::int64_t now, engine::Scheduler& scheduler);
  SpreadTransfer* spread_numbered(std::uint32_t number);
  void agree(SpreadTransfer& transfer, std::int64_t now, engine::Scheduler& scheduler);
  void moved(const SpreadTransfer& transfer, std::int64_t now, engine::Scheduler& scheduler);
  void end(Rendezvous& rendezvous, std::int64_t time_ps, engine::Scheduler& scheduler);

  std::shared_ptr<const Tables> tables_;
  std::uint32_t object_;
  const partition::Objects::Communicator& where_;
  std::uint32_t placement_;
  std::span<const std::uint32_t> domains_;
  Members members_;
  Lanes lanes_;
  std::vector<SpreadTransfer> spreads_;  ///< under way, at most one a lane
  std::uint32_t spread_count_ = 0;       ///< so far
  std::uint64_t collectives_ = 0;
};

}  // namespace proteus::executor
