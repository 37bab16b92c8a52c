// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger.hpp"
#include "proteus/engine/logical_process.hpp"
#include "rendezvous.hpp"

namespace proteus::executor {

/// A communicator whose members lie on several islands. The latency of its collectives is spent on the ways: a leg from
/// the devices, one to the fabric and one back, the rest to the devices.
class CommunicatorProcess final : public engine::LogicalProcess, public Reporting {
 public:
  CommunicatorProcess(std::shared_ptr<const Tables> tables, std::uint32_t object);

  void start(engine::Scheduler&) override {}
  void handle(const engine::Event& event, engine::Scheduler& scheduler) override;
  /// It only answers messages.
  Time promise() const override { return Time::infinity(); }
  bool finished() const override;
  std::vector<std::string> blocked() const override;
  std::string name() const override;

  void report(Result& result) const override;

 private:
  void begin(Rendezvous& rendezvous, std::int64_t now, engine::Scheduler& scheduler);
  void end(Rendezvous& rendezvous, std::int64_t time_ps, engine::Scheduler& scheduler);

  std::shared_ptr<const Tables> tables_;
  std::uint32_t object_;
  const partition::Objects::Communicator& where_;
  std::uint32_t placement_;
  std::optional<std::uint32_t> domain_;
  Members members_;
  Lanes lanes_;
  std::uint64_t collectives_ = 0;
};

}  // namespace proteus::executor
