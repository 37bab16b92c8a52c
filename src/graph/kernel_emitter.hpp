// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace proteus::graph {

/// Prices the kernels of one op and keeps them in order.
class KernelEmitter {
 public:
  /// `suffix` of all kinds: ".dgrad"
  KernelEmitter(const LocalOp& local, const cost::ComputeCost& provider, std::string suffix)
      : local_(local), cost_(provider), suffix_(std::move(suffix)) {}

  /// `first_elements`: see cost::Gemm.
  void gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, double output_bytes,
            double first_elements = 0) {
    const cost::Gemm g{batch, m, n, k, local_.type, local_.element_bytes, output_bytes, first_elements};
    const double flops =
        2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const double first = first_elements > 0 ? first_elements : static_cast<double>(m * k);
    const double bytes = static_cast<double>(batch) * (local_.element_bytes * (first + static_cast<double>(k * n)) +
                                                       output_bytes * static_cast<double>(m * n));
    cost::Cost price = cost_.gemm(g);
    // The tile model is fitted on products of matrices that lie in memory.
    if (first_elements > 0) price.provenance = cost::Provenance::roofline;
    add("", price, flops, bytes);
  }

  void memory(cost::MemoryBoundKind kind, double bytes, const char* part = "") {
    add(part, cost_.memory_bound(kind, bytes), 0, bytes);
  }

  void add(const char* part, const cost::Cost& price, double flops, double bytes) {
    kernels_.push_back({std::string(model::name_of(local_.op->kind)) + suffix_ + part, price, flops, bytes});
  }

  std::vector<Kernel> take() && { return std::move(kernels_); }

 private:
  const LocalOp& local_;
  const cost::ComputeCost& cost_;
  std::string suffix_;
  std::vector<Kernel> kernels_;
};

}  // namespace proteus::graph
