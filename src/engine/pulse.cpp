// SPDX-License-Identifier: Apache-2.0
#include "pulse.hpp"

#include <cstring>
#include <type_traits>

#include "proteus/base/error.hpp"

namespace proteus::engine {

Pulse pulse_of(const LocalEngine::Implementation& engine, const Hooks& hooks) {
  return {.now = engine.now(),
          .events = engine.statistics.events,
          .windows = engine.statistics.windows,
          .rows = hooks.rows ? hooks.rows(engine.rank) : 0,
          .seconds_events = engine.statistics.seconds_events};
}

std::vector<Pulse> gather_pulses(std::span<const Pulse> local, Transport& transport) {
  static_assert(std::is_trivially_copyable_v<Pulse>);
  std::vector<std::string> texts;
  for (const Pulse& pulse : local) texts.emplace_back(reinterpret_cast<const char*>(&pulse), sizeof pulse);
  std::vector<Pulse> pulses;
  for (const std::string& text : transport.gather(texts)) {
    if (text.size() != sizeof(Pulse)) throw SimulationError("the pulse of a rank arrived incomplete");
    std::memcpy(&pulses.emplace_back(), text.data(), sizeof(Pulse));
  }
  return pulses;
}

}  // namespace proteus::engine
