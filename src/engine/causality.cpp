// SPDX-License-Identifier: Apache-2.0
#include "causality.hpp"

#include "proteus/base/error.hpp"
#include "time_text.hpp"

namespace proteus::engine {

void refuse_late(const Event& event, const Event& last) {
  throw SimulationError(
      fmt::format("event of logical process {} at {} (delta {}) comes before the last one handled, at "
                  "{} (delta {})",
                  event.object, text_of(event.time()), event.delta, text_of(last.time()), last.delta));
}

}  // namespace proteus::engine
