// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
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
};

class ScriptedProcess final : public LogicalProcess {
 public:
  ScriptedProcess(std::string name, Script script) : name_(std::move(name)), script_(std::move(script)) {}

  void start(Scheduler& scheduler) override { script_.start(scheduler); }
  void handle(const Event& event, Scheduler& scheduler) override { script_.handle(event, scheduler); }
  Promise promise() const override { return {script_.promise(), Time::infinity()}; }
  bool finished() const override { return script_.finished(); }
  std::vector<std::string> blocked() const override { return script_.blocked; }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  Script script_;
};

}  // namespace proteus::engine::testing
