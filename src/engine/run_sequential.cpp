// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "local_engine.hpp"
#include "proteus/base/error.hpp"
#include "pulse.hpp"
#include "wait_chain.hpp"

namespace proteus::engine {
namespace {

// Some milliseconds of work: seldom enough to cost nothing, often enough that nobody waits for a flush or a signal.
constexpr std::uint64_t kEventsBetweenHooks = 65'536;

void call(const Hooks& hooks, int rank) {
  std::int64_t progress = hooks.progress ? hooks.progress(rank) : 0;
  if (hooks.advanced) hooks.advanced(rank, progress);
}

void beat(const LocalEngine::Implementation& engine, const Hooks& hooks) {
  if (!hooks.pulse || !hooks.pulse_due || !hooks.pulse_due()) return;
  const Pulse pulse = pulse_of(engine, hooks);
  hooks.pulse({&pulse, 1});
}

void run_slice(LocalEngine::Implementation& engine) {
  auto begin = std::chrono::steady_clock::now();
  std::uint64_t events = 0;
  for (EventQueue* queue = engine.earliest(); queue != nullptr; queue = engine.earliest()) {
    engine.handle_earliest(*queue);
    if (++events == kEventsBetweenHooks) break;
  }
  engine.statistics.seconds_events += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void run_sequential(LocalEngine& engine, const Hooks& hooks) {
  LocalEngine::Implementation& implementation = engine.implementation();
  // The owners tell who is who among many ranks; here a single engine must have them all.
  const std::vector<std::uint32_t>& owner = *implementation.owner;
  const auto all = static_cast<std::size_t>(std::ssize(owner) - std::ranges::count(owner, no_rank));
  if (implementation.slots.size() != all) {
    throw SimulationError(
        fmt::format("a sequential run needs all {} logical processes, but hosts {}", all, implementation.slots.size()));
  }
  try {
    implementation.start(engine.rank() + 1);
    while (implementation.earliest() != nullptr) {
      run_slice(implementation);
      if (implementation.earliest() == nullptr) break;
      call(hooks, engine.rank());
      beat(implementation, hooks);
    }
  } catch (const SimulationError& error) {
    throw SimulationError(implementation.context() + error.what());
  }
  call(hooks, engine.rank());
  Outcome outcome = implementation.outcome();
  const LocalEngine::Implementation* all_of_them = &implementation;
  conclude({&outcome, 1}, [&] {
    return wait_chain({&all_of_them, 1}, [](const std::vector<std::string>& texts) { return texts; });
  });
}

}  // namespace proteus::engine
