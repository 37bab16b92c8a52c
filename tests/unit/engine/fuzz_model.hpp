// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hosting.hpp"
#include "proteus/base/hash.hpp"
#include "proteus/engine/logical_process.hpp"
#include "proteus/engine/simulation.hpp"

namespace proteus::engine::testing {

/// How honestly processes promise: the exact earliest time, or something earlier.
enum class Promises { tight, early, none };

struct FuzzModel {
  std::uint64_t seed = 1;
  std::uint32_t processes = 12;
  std::uint32_t operations = 60;
  Promises promises = Promises::tight;

  static constexpr std::int64_t kQuantum = 100;  // ps; every time is a multiple, so that ties are everywhere

  std::uint64_t random(std::uint64_t a, std::uint64_t b, std::uint64_t c) const {
    return mix64(seed + mix64(a + mix64(b + mix64(c + 1))));
  }
  Time lookahead() const { return Time::picoseconds(kQuantum); }
};

/// Runs a fixed chain of operations, some of which end with a message to a neighbour, and answers messages after random
/// and zero delays. Whom it sends to, when, and with what priority depends on all it has seen, in order: one event out
/// of order anywhere moves the hash.
class FuzzProcess final : public LogicalProcess {
 public:
  FuzzProcess(const FuzzModel& model, std::uint32_t object) : model_(model), object_(object) {
    std::uint64_t links = 1 + model.random(object, 0, 0) % 4;
    for (std::uint64_t link = 0; link < links; ++link) {
      auto peer = static_cast<std::uint32_t>(model.random(object, link, 1) % model.processes);
      if (peer == object) peer = (peer + 1) % model.processes;
      Time delay =
          Time::picoseconds(FuzzModel::kQuantum * (1 + static_cast<std::int64_t>(model.random(object, link, 2) % 5)));
      links_.push_back({peer, delay});
      shortest_ = std::min(shortest_, delay);
    }
    Time at = Time::zero();
    for (std::uint32_t operation = 0; operation < model.operations; ++operation) {
      // Half of the operations take no time at all.
      auto steps = static_cast<std::int64_t>(model.random(object, operation, 3) % 8);
      at += Time::picoseconds(FuzzModel::kQuantum * std::max<std::int64_t>(0, steps - 4));
      ends_.push_back(at);
      sends_.push_back(model.random(object, operation, 4) % 5 == 0);
    }
  }

  void start(Scheduler& scheduler) override { schedule_operation(scheduler); }

  void handle(const Event& event, Scheduler& scheduler) override {
    ++handled_;
    for (std::uint64_t value : {static_cast<std::uint64_t>(event.time_ps), std::uint64_t{event.kind},
                                std::uint64_t{event.instance}, std::uint64_t{event.member}, event.payload}) {
      rolling_ = mix64(rolling_ * 31 + value + 1);
    }
    if (event.kind == kMessage) {
      if (event.payload % kHops == 0) return;
      Time when = scheduler.now() + Time::picoseconds(FuzzModel::kQuantum * static_cast<std::int64_t>(rolling_ % 3));
      pending_.insert(when);
      scheduler.schedule(
          {.time_ps = when.ps(), .priority = 3, .kind = kAnswer, .instance = answers_++, .payload = event.payload - 1});
    } else if (event.kind == kAnswer) {
      pending_.erase(pending_.find(scheduler.now()));
      send(scheduler, event.payload);
    } else {
      if (sends_[next_]) send(scheduler, (rolling_ & 0xffff) * kHops + kHops - 1);
      ++next_;
      schedule_operation(scheduler);
    }
  }

  Promise promise() const override { return {earliest(), Time::zero()}; }

  Time earliest() const {
    Time effect = Time::infinity();
    for (std::size_t operation = next_; operation < sends_.size() && effect.is_infinite(); ++operation) {
      if (sends_[operation]) effect = ends_[operation];
    }
    if (!pending_.empty()) effect = std::min(effect, *pending_.begin());
    effect += shortest_;
    if (model_.promises == Promises::none) return Time::zero();
    if (model_.promises == Promises::early && !effect.is_infinite()) {
      auto steps = static_cast<std::int64_t>(model_.random(object_, handled_, 5) % 40);
      effect = std::max(Time::zero(), effect - Time::picoseconds(FuzzModel::kQuantum * steps));
    }
    return effect;
  }

  bool finished() const override { return next_ == ends_.size() && pending_.empty(); }
  std::vector<std::string> blocked() const override { return {"operation " + std::to_string(next_)}; }
  std::string name() const override { return "fuzz " + std::to_string(object_); }

  void add_to(StateHash& hash) const { hash.add(object_, handled_, rolling_, sent_); }

 private:
  static constexpr std::uint8_t kMessage = 0;
  static constexpr std::uint8_t kOperation = 1;
  static constexpr std::uint8_t kAnswer = 2;
  static constexpr std::uint64_t kHops = 4;  // a message is answered until payload % kHops is used up

  struct Link {
    std::uint32_t peer;
    Time delay;
  };

  void schedule_operation(Scheduler& scheduler) {
    if (next_ == ends_.size()) return;
    scheduler.schedule({.time_ps = ends_[next_].ps(),
                        .priority = 2,
                        .kind = kOperation,
                        .instance = static_cast<std::uint32_t>(next_)});
  }

  void send(Scheduler& scheduler, std::uint64_t payload) {
    const Link& link = links_[rolling_ % links_.size()];
    Time ahead = Time::picoseconds(FuzzModel::kQuantum * static_cast<std::int64_t>(rolling_ / 7 % 3));
    Time when = scheduler.now() + link.delay + ahead;
    // Before or after the receiver's own events of the same time.
    std::uint8_t priority = rolling_ / 64 % 2 == 0 ? 0 : 4;
    scheduler.send({.time_ps = when.ps(),
                    .priority = priority,
                    .kind = kMessage,
                    .object = link.peer,
                    .instance = object_,
                    .member = sent_++,
                    .payload = payload});
  }

  FuzzModel model_;
  std::uint32_t object_;
  std::vector<Link> links_;
  Time shortest_ = Time::infinity();
  std::vector<Time> ends_;
  std::vector<bool> sends_;
  std::size_t next_ = 0;
  std::multiset<Time> pending_;
  std::uint32_t answers_ = 0;
  std::uint32_t sent_ = 0;
  std::uint64_t handled_ = 0;
  std::uint64_t rolling_ = 0;
};

inline Factory factory_of(const FuzzModel& model) {
  return [model](std::uint32_t object) { return std::make_unique<FuzzProcess>(model, object); };
}

inline StateHash hash_of(std::span<const LocalEngine> engines) {
  StateHash hash;
  for (const LocalEngine& engine : engines) {
    for (const auto& process : engine.processes()) dynamic_cast<const FuzzProcess&>(*process).add_to(hash);
  }
  return hash;
}

inline StateHash run_fuzz_sequential(const FuzzModel& model) {
  auto engines = host_all(factory_of(model), Owners(model.processes, 0), model.lookahead(), 1);
  run_sequential(engines[0], {});
  return hash_of(engines);
}

}  // namespace proteus::engine::testing
