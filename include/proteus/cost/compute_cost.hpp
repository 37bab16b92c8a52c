// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "proteus/base/data_type.hpp"
#include "proteus/cluster/cluster.hpp"
#include "proteus/cost/cost.hpp"

namespace proteus::cost {

/// `batch` products of an m x k by a k x n matrix. Element sizes in bytes; output_bytes is 8 where the kernel reads
/// and writes an fp32 accumulator (weight gradients with accumulation fusion).
struct Gemm {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DataType type = DataType::bf16;
  double input_bytes = 2;
  double output_bytes = 2;
  /// Elements of the m x k operands in memory; 0: all of them. A convolution as an implicit GEMM reads its input, in
  /// which windows overlap, not the columns made of it.
  double first_elements = 0;
};

/// One fused attention call on one device (FlashAttention and its like).
struct FusedAttention {
  std::int64_t batch = 0;
  std::int64_t heads = 0;  ///< query heads on this device
  std::int64_t kv_heads = 0;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;
  std::int64_t head_dim = 0;
  bool causal = true;
  bool backward = false;
  DataType type = DataType::bf16;
};

/// Families of memory-bound kernels that share an efficiency (docs/cost-models.md).
enum class MemoryBoundKind : std::uint8_t {
  elementwise,  ///< one tensor in, one out
  add,          ///< two in, one out
  bias_gelu,
  swiglu,
  layer_norm,
  rms_norm,
  softmax,  ///< scale, mask and softmax of attention scores
  dropout,
  dropout_add,  ///< bias, dropout and residual add
  rope,
  embedding,
  cross_entropy,
  copy,       ///< transpose, contiguous copy, cast
  optimizer,  ///< multi-tensor Adam, gradient norm, scaling
};

std::string_view name_of(MemoryBoundKind kind);

/// Times of compute kernels on one kind of GPU. Returned times include the in-situ derate of the GPU on tensor-core
/// work. Implementations are immutable and answer the same question with the same bits.
class ComputeCost {
 public:
  virtual ~ComputeCost() = default;

  virtual Cost gemm(const Gemm& gemm) const = 0;
  virtual Cost attention(const FusedAttention& attention) const = 0;
  /// `bytes`: memory traffic of the kernel, minimum reads and writes.
  virtual Cost memory_bound(MemoryBoundKind kind, double bytes) const = 0;
};

/// Reads catalog/costs/compute.yaml below `catalog` and returns the provider for `gpu`.
/// Throws InputError where the file is broken or the GPU has no peak for tensor work.
std::unique_ptr<ComputeCost> make_compute_cost(const cluster::Gpu& gpu, const std::filesystem::path& catalog);

}  // namespace proteus::cost
