// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "placement.hpp"
#include "schedule.hpp"

namespace proteus::graph {

/// Whether passes wait for the exchanges between stages (Issue::wait_next).
struct ExchangeRules {
  bool synchronous_forward = false;
  bool synchronous_backward = false;
};

/// Every micro-batch goes once forward and once backward through every chunk, on the right stage and in a possible
/// order, and the orders of all stages together come to their end: run with the data dependences, with streams that
/// send and receive in order, and with the waits of synchronous exchanges. Throws InputError that names stage and
/// entry.
void check_schedule(const std::vector<std::vector<Slot>>& orders, const Placement& placement,
                    std::int64_t micro_batches, const ExchangeRules& rules, const SourceLocation& where);

}  // namespace proteus::graph
