// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proteus/engine/event.hpp"

namespace proteus::engine {

/// Throws the SimulationError of a queue that is given `event` after it gave out `last`, which comes later.
[[noreturn]] void refuse_late(const Event& event, const Event& last);

}  // namespace proteus::engine
