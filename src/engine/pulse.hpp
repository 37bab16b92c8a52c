// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "local_engine.hpp"

namespace proteus::engine {

/// How far `engine` is, by its own counts and Hooks::rows.
Pulse pulse_of(const LocalEngine::Implementation& engine, const Hooks& hooks);

/// The pulses of all ranks. Collective.
std::vector<Pulse> gather_pulses(std::span<const Pulse> local, Transport& transport);

}  // namespace proteus::engine
