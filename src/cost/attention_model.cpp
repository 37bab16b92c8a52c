// SPDX-License-Identifier: Apache-2.0
#include "attention_model.hpp"

#include <algorithm>
#include <cmath>

namespace proteus::cost {
namespace {

constexpr double kForwardProducts = 2;   // S = QK', O = PV
constexpr double kBackwardProducts = 5;  // S again, dV, dP, dQ, dK
constexpr double kBackwardOverForward = kBackwardProducts / kForwardProducts;

double rate_from(const std::map<int, LogTable>& by_head_dim, double head_dim, double length) {
  std::vector<double> sizes;
  std::vector<double> rates;
  for (const auto& [size, table] : by_head_dim) {
    sizes.push_back(size);
    rates.push_back(table.at(length));
  }
  return LogTable(sizes, rates).at(head_dim);
}

}  // namespace

double attention_flops(const FusedAttention& a) {
  const double forward = 4.0 * static_cast<double>(a.batch) * static_cast<double>(a.heads) *
                         static_cast<double>(a.query_length) * static_cast<double>(a.key_length) *
                         static_cast<double>(a.head_dim) * (a.causal ? 0.5 : 1.0);
  return a.backward ? kBackwardOverForward * forward : forward;
}

double attention_rate(const AttentionTable& table, const FusedAttention& a) {
  // A query tile loops over the keys, so their number sets how well the loop amortizes its start.
  const double measured = rate_from(a.causal ? table.causal : table.full, static_cast<double>(a.head_dim),
                                    static_cast<double>(a.key_length));
  // Joint rate R of forward at r and backward at b r: (1 + x) / R = 1 / r + x / (b r), with x = 2.5.
  const double forward = table.forward_only
                             ? measured
                             : measured * (1 + kBackwardOverForward / table.backward_rate) / (1 + kBackwardOverForward);
  return a.backward ? forward * table.backward_rate : forward;
}

double attention_occupancy(const AttentionTable& table, const FusedAttention& a, int multiprocessors) {
  // The backward pass is parallel over key tiles, the forward over query tiles.
  const auto rows = static_cast<double>(a.backward ? a.key_length : a.query_length);
  const double tiles = static_cast<double>(a.batch) * static_cast<double>(a.heads) * std::ceil(rows / table.query_tile);
  return std::min(1.0, tiles / multiprocessors);
}

double attention_bytes(const FusedAttention& a) {
  const double element = size_of(a.type) * static_cast<double>(a.batch) * static_cast<double>(a.head_dim);
  const double query = element * static_cast<double>(a.heads) * static_cast<double>(a.query_length);
  const double key = element * static_cast<double>(a.kv_heads) * static_cast<double>(a.key_length);
  // Forward: read Q, K, V, write O. Backward: read Q, K, V, O, dO, write dQ, dK, dV.
  return a.backward ? 4 * query + 4 * key : 2 * query + 2 * key;
}

}  // namespace proteus::cost
