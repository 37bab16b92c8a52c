// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proteus/engine/logical_process.hpp"

namespace proteus::engine::testing {

/// A process whose behaviour a test writes down in place.
struct Script {
  std::function<void(Scheduler&)> start = [](Scheduler&) {};
  std::function<void(const Event&, Scheduler&)> handle = [](const Event&, Scheduler&) {};
  std::function<Time()> promise = [] { return Time::zero(); };
  std::function<bool()> finished = [] { return true; };
  std::vector<std::string> blocked;
  std::optional<std::uint64_t> first_wait;
  std::function<WaitLink(std::uint64_t)> wait_at = [](std::uint64_t) { return WaitLink{}; };
};

class ScriptedProcess final : public LogicalProcess {
 public:
  ScriptedProcess(std::string name, Script script) : name_(std::move(name)), script_(std::move(script)) {}

  void start(Scheduler& scheduler) override { script_.start(scheduler); }
  void handle(const Event& event, Scheduler& scheduler) override { script_.handle(event, scheduler); }
  Promise promise() const override { return {script_.promise(), Time::infinity()}; }
  bool finished() const override { return script_.finished(); }
  std::vector<std::string> blocked() const override { return script_.blocked; }
  std::optional<std::uint64_t> first_wait() const override { return script_.first_wait; }
  WaitLink wait_at(std::uint64_t place) const override { return script_.wait_at(place); }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  Script script_;
};

}  // namespace proteus::engine::testing
