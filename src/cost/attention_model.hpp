// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "log_table.hpp"
#include "proteus/cost/compute_cost.hpp"

namespace proteus::cost {

/// Measured rates of one fused attention implementation, in FLOP/s over sequence length.
struct AttentionTable {
  std::map<int, LogTable> full;  ///< by head size
  std::map<int, LogTable> causal;
  double peak = 0;            ///< FLOP/s of the GPU that was measured
  bool forward_only = false;  ///< the rates are of the forward pass, not of forward and backward together
  double backward_rate = 1;   ///< rate of the backward pass over that of the forward
  double query_tile = 128;
  double relative_sigma = 0;
};

/// FLOPs of one call: forward 4 b h s_q s_k d, half of it if causal; backward 2.5 times the forward.
double attention_flops(const FusedAttention& attention);

/// Rate in FLOP/s on the measured GPU with a full grid.
double attention_rate(const AttentionTable& table, const FusedAttention& attention);

/// Fraction of `multiprocessors` that the grid of query tiles fills.
double attention_occupancy(const AttentionTable& table, const FusedAttention& attention, int multiprocessors);

/// Minimum traffic with device memory in bytes: every tensor of the call once.
double attention_bytes(const FusedAttention& attention);

}  // namespace proteus::cost
