// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proteus/base/data_type.hpp"
#include "proteus/model/transformer.hpp"

namespace proteus::model {

/// What happens when a dim of an op's iteration space is split over devices.
enum class DimKind : std::uint8_t {
  parallel,  ///< every part is computed on its own
  sum,       ///< a reduction: results that the dim does not index become partial sums
  max,       ///< the same with partial maxima
  opaque,    ///< must not be split
};

/// One named dim of an iteration space.
struct Dim {
  std::string name;
  std::int64_t size = 0;
  DimKind kind = DimKind::parallel;
};

using TensorId = std::uint32_t;
using OpId = std::uint32_t;
inline constexpr OpId no_op = static_cast<OpId>(-1);

struct Tensor {
  std::string name;
  std::vector<std::int64_t> extents;
  DataType type = DataType::bf16;
  bool parameter = false;
  OpId producer = no_op;

  std::int64_t elements() const;
};

/// A tensor as an op uses it: `dims[i]` is the op dim that tensor dim i runs along.
struct Operand {
  TensorId tensor = 0;
  std::vector<int> dims;
};

enum class OpKind : std::uint8_t {
  embedding,  ///< gather of rows of a (vocabulary-parallel) table
  position,   ///< adds the position table, then dropout
  layer_norm,
  rms_norm,
  linear,
  rope,
  attention_scores,   ///< Q K^T, batched
  attention_softmax,  ///< scale, causal mask, softmax
  attention_dropout,
  attention_context,  ///< P V, batched
  flash_attention,
  residual_add,  ///< bias, dropout and residual, or a plain add
  gelu,
  swiglu,
  loss_max,  ///< the four parts of a vocabulary-parallel cross-entropy
  loss_predicted,
  loss_sum_exp,
  loss_value,
  conv2d,
  batch_norm,
  relu,
  dropout,
  max_pool,
  global_average_pool,
  softmax_loss,  ///< softmax and cross-entropy over classes that every device has whole
};
inline constexpr OpKind last_op_kind = OpKind::softmax_loss;

std::string_view name_of(OpKind kind);

/// What an op keeps for its backward pass.
struct Saved {
  std::vector<int> inputs;  ///< operand numbers in Op::inputs
  bool output = false;
  double output_extra_bytes = 0;  ///< per element of output 0: dropout masks
  std::vector<int> extra_dims;    ///< op dims that index an extra saved buffer ...
  double extra_bytes = 0;         ///< ... and its bytes per element: log-sum-exp, fp32 softmax of the loss
};

/// One leaf of the module tree.
struct Op {
  std::string path;  ///< "layers[3].attention.qkv"
  OpKind kind = OpKind::linear;
  int layer = -1;  ///< transformer layer; -1 outside
  std::vector<Dim> dims;
  std::vector<Operand> inputs;
  std::vector<Operand> parameters;
  std::vector<Operand> outputs;
  Saved saved;
  bool input_gradient = true;   ///< whether the inputs have a gradient to be computed
  bool backward_kernel = true;  ///< false: its derivative is folded into a neighbour's kernel
  std::int64_t stride = 1;      ///< conv2d, max_pool: input positions between two windows, in both directions
  bool has_dropout = false;
  bool has_bias = false;  ///< linear: the bias gradient is one more reduction of dY

  int dim(std::string_view name) const;  ///< index of a dim, -1 where there is none
  double forward_flops() const;          ///< multiply-add work of the whole op (tensor-core work only)
};

/// The module tree of a model, flattened: ops in topological order, their paths being the tree.
struct Graph {
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::int64_t layers = 0;

  /// Ops that read each tensor, in order.
  std::vector<std::vector<OpId>> consumers() const;
};

/// What the model does not say but its graph depends on.
struct GraphOptions {
  std::int64_t batch = 1;           ///< samples of one micro-batch over all replicas
  std::int64_t vocab_multiple = 1;  ///< the vocabulary is padded up to a multiple of this
  DataType type = DataType::bf16;
};

/// Ops of a decoder-only transformer, at the granularity of Megatron-LM's kernels (fused bias+GeLU,
/// bias+dropout+add, scale+mask+softmax). Activations are [batch, seq, ...].
Graph build_transformer(const TransformerConfig& config, const GraphOptions& options);

}  // namespace proteus::model
