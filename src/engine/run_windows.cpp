// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "local_engine.hpp"
#include "proteus/base/error.hpp"
#include "pulse.hpp"
#include "wait_chain.hpp"

namespace proteus::engine {
namespace {

/// The ranks of this process on their way through the windows.
class WindowRun {
 public:
  WindowRun(std::span<LocalEngine> local, Transport& transport, const Hooks& hooks)
      : transport_(transport), hooks_(hooks), mailboxes_(local.size()) {
    if (local.empty()) throw std::invalid_argument("no rank lives in this process");
    for (std::size_t index = 0; index < local.size(); ++index) {
      LocalEngine::Implementation& engine = local[index].implementation();
      if (engine.rank < 0 || engine.rank >= transport.ranks() || (index > 0 && engine.rank <= engines_.back()->rank)) {
        throw std::invalid_argument("the ranks of this process are not ascending or not known to the transport");
      }
      Mailbox& mailbox = mailboxes_[index];
      mailbox.rank = engine.rank;
      mailbox.out.resize(static_cast<std::size_t>(transport.ranks()));
      engine.mailbox = &mailbox;
      engines_.push_back(&engine);
    }
  }

  WindowRun(const WindowRun&) = delete;
  WindowRun& operator=(const WindowRun&) = delete;

  ~WindowRun() {
    for (LocalEngine::Implementation* engine : engines_) engine->mailbox = nullptr;
  }

  void run() {
    for_each_rank([this](auto& engine) { engine.start(transport_.ranks()); });
    while (window()) {
    }
    settle_perfect_windows();
    conclude(gather_outcomes(), [this] {
      return wait_chain({engines_.data(), engines_.size()},
                        [this](const std::vector<std::string>& texts) { return transport_.gather(texts); });
    });
  }

 private:
  using Engine = LocalEngine::Implementation;

  /// One exchange and the events that it makes safe. False when everybody is done or somebody failed: all ranks see
  /// the same agreement and leave together.
  bool window() {
    for_each_rank([this](Engine& engine) {
      engine.mailbox->progress = hooks_.progress ? hooks_.progress(engine.rank) : 0;
      engine.mailbox->promise = engine.promise();
      engine.mailbox->pulse = engine.rank == 0 && hooks_.pulse_due && hooks_.pulse_due();
    });
    for (Engine* engine : engines_) {
      engine->mailbox->failed = engine->failure.has_value();
      engine->mailbox->crossing = engine->perfect.next();
    }
    Agreement agreement = exchange();
    failed_ = agreement.failed;
    if (failed_) return false;
    if (agreement.pulse) pulse();
    bool done = agreement.bound.is_infinite();
    for_each_rank([&agreement](Engine& engine) {
      engine.receive();
      // A promise may be earlier than one before; what was safe once stays safe.
      engine.bound = std::max(engine.bound, agreement.bound);
      // No message that is still to be sent arrives before it, so that this bound would have been known.
      if (!agreement.crossing.is_infinite() && agreement.crossing <= engine.bound) {
        engine.perfect.advance(agreement.crossing);
      }
    });
    if (agreement.progress > progress_ || done) {
      progress_ = agreement.progress;
      // Collective: also for a rank that has failed since the exchange, which tells the others in the next.
      for_each_rank([this](Engine& engine) { advance(engine); }, true);
    }
    if (done) return false;
    for_each_rank([this](Engine& engine) { engine.run_window(hooks_.full); });
    return true;
  }

  /// The run is over, so that all messages are known: agrees on the bounds that are left.
  void settle_perfect_windows() {
    if (failed_) return;
    while (true) {
      for (Engine* engine : engines_) engine->mailbox->crossing = engine->perfect.next();
      const Time bound = exchange().crossing;
      if (bound.is_infinite()) break;
      for (Engine* engine : engines_) engine->perfect.advance(bound);
    }
    for (Engine* engine : engines_) {
      if (engine->statistics.windows > 0) engine->statistics.perfect_windows = engine->perfect.windows();
    }
  }

  void pulse() {
    std::vector<Pulse> local(engines_.size());
    std::size_t index = 0;
    for_each_rank([&](const Engine& engine) { local[index++] = pulse_of(engine, hooks_); });
    const std::vector<Pulse> pulses = gather_pulses(local, transport_);
    for_each_rank([&](const Engine& engine) {
      if (hooks_.pulse && engine.rank == 0) hooks_.pulse(pulses);
    });
  }

  void advance(Engine& engine) {
    if (hooks_.advanced) hooks_.advanced(engine.rank, progress_);
  }

  Agreement exchange() {
    auto begin = std::chrono::steady_clock::now();
    Agreement agreement = transport_.exchange(mailboxes_);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    for (Engine* engine : engines_) engine->statistics.seconds_synchronization += seconds.count();
    return agreement;
  }

  /// Whatever goes wrong on one rank is kept until the next exchange: a rank that left now would hang the others.
  template <typename Step>
  void for_each_rank(Step step, bool also_failed = false) {
    for (Engine* engine : engines_) {
      if (engine->failure && !also_failed) continue;
      try {
        step(*engine);
      } catch (const OutputError& error) {
        fail(*engine, error.what(), Failure::Kind::output);
      } catch (const StoppedError& error) {
        fail(*engine, error.what(), Failure::Kind::stopped);
      } catch (const std::exception& error) {
        fail(*engine, error.what(), Failure::Kind::simulation);
      } catch (...) {
        fail(*engine, "unknown exception", Failure::Kind::simulation);
      }
    }
  }

  static void fail(Engine& engine, const std::string& text, Failure::Kind kind) {
    engine.failure = Failure{.kind = kind, .when = engine.now(), .text = engine.context() + text};
  }

  std::vector<Outcome> gather_outcomes() {
    std::vector<std::string> texts;
    for (Engine* engine : engines_) texts.push_back(outcome_of(*engine).encode());
    std::vector<Outcome> outcomes;
    for (const std::string& text : transport_.gather(texts)) outcomes.push_back(Outcome::decode(text));
    return outcomes;
  }

  // The model is asked what it waits for: that may fail too, and the others wait in gather.
  static Outcome outcome_of(Engine& engine) {
    try {
      return engine.outcome();
    } catch (const std::exception& error) {
      fail(engine, error.what(), Failure::Kind::simulation);
      return engine.outcome();
    }
  }

  Transport& transport_;
  const Hooks& hooks_;
  std::vector<Mailbox> mailboxes_;
  std::vector<Engine*> engines_;
  std::int64_t progress_ = 0;
  bool failed_ = false;
};

}  // namespace

void run_windows(std::span<LocalEngine> local, Transport& transport, const Hooks& hooks) {
  WindowRun(local, transport, hooks).run();
}

}  // namespace proteus::engine
