// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "convolution_kernels.hpp"
#include "kernel_emitter.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace proteus::graph {
namespace {

using cost::MemoryBoundKind;
using model::OpKind;
using Emitter = KernelEmitter;

/// Memory traffic of memory-bound kernels in bytes per element for 2-byte activations; other types scale. Minimum reads
/// and writes of the fused kernels of Megatron-LM (megatron/core/fusions) and PyTorch; docs/cost-models.md.
struct Traffic {
  OpKind op;
  MemoryBoundKind kind;
  double forward;
  double backward;
};
constexpr Traffic traffic_table[] = {
    {OpKind::position, MemoryBoundKind::dropout_add, 7, 5},   // read x, write y and mask; table from cache
    {OpKind::layer_norm, MemoryBoundKind::layer_norm, 4, 6},  // x in, y out; dy and x in, dx out
    {OpKind::rms_norm, MemoryBoundKind::rms_norm, 4, 6},
    {OpKind::rope, MemoryBoundKind::rope, 4, 4},
    {OpKind::attention_softmax, MemoryBoundKind::softmax, 4, 6},
    {OpKind::attention_dropout, MemoryBoundKind::dropout, 5, 5},  // with the one-byte mask
    {OpKind::residual_add, MemoryBoundKind::dropout_add, 7, 5},
    {OpKind::gelu, MemoryBoundKind::bias_gelu, 4, 6},
    {OpKind::swiglu, MemoryBoundKind::swiglu, 6, 10},
    {OpKind::dropout, MemoryBoundKind::dropout, 5, 5},
    {OpKind::relu, MemoryBoundKind::elementwise, 4, 6},         // x in, y out; dy and y in, dx out
    {OpKind::batch_norm, MemoryBoundKind::elementwise, 6, 10},  // x twice, y out; x and dy twice, dx out
    {OpKind::global_average_pool, MemoryBoundKind::elementwise, 2, 2},
    {OpKind::softmax_loss, MemoryBoundKind::cross_entropy, 8, 8},  // fp32
};

const Traffic& traffic_of(OpKind kind) {
  const auto* found =
      std::find_if(std::begin(traffic_table), std::end(traffic_table), [&](const Traffic& t) { return t.op == kind; });
  if (found == std::end(traffic_table)) throw std::logic_error("no kernel for " + std::string(model::name_of(kind)));
  return *found;
}

cost::FusedAttention attention(const LocalOp& local, bool backward) {
  cost::FusedAttention a;
  a.batch = local.size("batch");
  a.kv_heads = local.size("heads");
  a.heads = a.kv_heads * local.size("group");
  a.query_length = local.size("query");
  a.key_length = local.size("key");
  a.head_dim = local.size("head_dim");
  a.causal = true;
  a.backward = backward;
  a.type = local.type;
  return a;
}

/// Rows of a linear layer's operands.
struct LinearShape {
  std::int64_t rows, in, out;
  explicit LinearShape(const LocalOp& l)
      : rows(l.size("batch") * l.size("seq")),
        in(l.size("in") * l.size("in_height") * l.size("in_width")),
        out(l.size("out") * l.size("width")) {}
};

}  // namespace

LocalOp::LocalOp(const model::Op& which, const std::vector<std::vector<strategy::Atom>>& split,
                 const strategy::Mesh& mesh, DataType training_type, DataType gradient_type)
    : op(&which), element_bytes(size_of(training_type)), type(training_type), gradient_bytes(size_of(gradient_type)) {
  for (std::size_t dim = 0; dim < which.dims.size(); ++dim) {
    std::int64_t parts = 1;
    for (strategy::Atom atom : split[dim]) parts *= mesh.size(atom);
    dims.push_back(which.dims[dim].size / parts);
  }
}

std::int64_t LocalOp::size(std::string_view dim) const {
  const int index = op->dim(dim);
  return index < 0 ? 1 : dims[static_cast<std::size_t>(index)];
}

double LocalOp::volume() const {
  double product = 1;
  for (std::int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

std::vector<Kernel> forward_kernels(const LocalOp& local, const cost::ComputeCost& cost) {
  Emitter emit(local, cost, "");
  const double scale = local.element_bytes / 2;
  const std::int64_t batch_heads = local.size("batch") * local.size("heads") * local.size("group");
  switch (local.op->kind) {
    case OpKind::embedding:
      // One row read and written for each token; the vocabulary dim is looked up, not walked.
      emit.memory(MemoryBoundKind::embedding,
                  4 * scale * static_cast<double>(local.size("batch") * local.size("seq") * local.size("hidden")));
      break;
    case OpKind::linear: {
      const LinearShape s(local);
      emit.gemm(1, s.rows, s.out, s.in, local.element_bytes);
      break;
    }
    case OpKind::attention_scores:
      emit.gemm(batch_heads, local.size("query"), local.size("key"), local.size("head_dim"), local.element_bytes);
      break;
    case OpKind::attention_context:
      emit.gemm(batch_heads, local.size("query"), local.size("head_dim"), local.size("key"), local.element_bytes);
      // The context is permuted to [seq, batch, heads] and made contiguous (Megatron-LM, CoreAttention.forward).
      emit.memory(MemoryBoundKind::copy,
                  4 * scale * static_cast<double>(batch_heads * local.size("query") * local.size("head_dim")), ".copy");
      break;
    case OpKind::flash_attention: {
      const cost::FusedAttention a = attention(local, false);
      const double flops = 4.0 * static_cast<double>(a.batch * a.heads * a.query_length) *
                           static_cast<double>(a.key_length * a.head_dim) / (a.causal ? 2 : 1);
      emit.add("", cost.attention(a), flops, 0);
      break;
    }
    case OpKind::conv2d:
      convolution(local, emit);
      break;
    case OpKind::max_pool:
      max_pool(local, emit);
      break;
    case OpKind::loss_max:
      emit.memory(MemoryBoundKind::cross_entropy,
                  6 * local.volume());  // cast to fp32 (2 read, 4 written), maximum in cache
      break;
    case OpKind::loss_predicted:
    case OpKind::loss_value:
      emit.memory(MemoryBoundKind::elementwise, 12.0 * static_cast<double>(local.size("batch") * local.size("seq")));
      break;
    case OpKind::loss_sum_exp:
      emit.memory(MemoryBoundKind::cross_entropy, 8 * local.volume());  // fp32, subtract, exp and sum in place
      break;
    default: {
      const Traffic& t = traffic_of(local.op->kind);
      double bytes = t.forward;
      // Without dropout and bias a residual is a plain add: two in, one out.
      if (local.op->kind == OpKind::residual_add && !local.op->has_dropout) {
        emit.memory(MemoryBoundKind::add, 6 * scale * local.volume());
        break;
      }
      if (local.op->kind == OpKind::swiglu) bytes /= 2;  // per output element; the volume counts both halves
      emit.memory(t.kind, bytes * scale * local.volume());
    }
  }
  return std::move(emit).take();
}

std::vector<Kernel> input_gradient_kernels(const LocalOp& local, const cost::ComputeCost& cost) {
  Emitter emit(local, cost, ".dgrad");
  const model::Op& op = *local.op;
  if (!op.input_gradient || !op.backward_kernel) return {};
  const double scale = local.element_bytes / 2;
  const std::int64_t batch_heads = local.size("batch") * local.size("heads") * local.size("group");
  switch (op.kind) {
    case OpKind::linear: {
      const LinearShape s(local);
      emit.gemm(1, s.rows, s.in, s.out, local.element_bytes);
      break;
    }
    case OpKind::attention_scores: {
      emit.gemm(batch_heads, local.size("query"), local.size("head_dim"), local.size("key"), local.element_bytes);
      emit.gemm(batch_heads, local.size("key"), local.size("head_dim"), local.size("query"), local.element_bytes);
      // The gradients of Q, K and V are concatenated into that of the fused projection (backward of torch.split).
      emit.memory(MemoryBoundKind::copy,
                  4 * scale *
                      static_cast<double>(local.size("batch") * local.size("query") * local.size("heads") *
                                          (local.size("group") + 2) * local.size("head_dim")),
                  ".concat");
      break;
    }
    case OpKind::attention_context:
      emit.gemm(batch_heads, local.size("query"), local.size("key"), local.size("head_dim"), local.element_bytes);
      emit.gemm(batch_heads, local.size("key"), local.size("head_dim"), local.size("query"), local.element_bytes);
      break;
    case OpKind::flash_attention: {
      const cost::FusedAttention a = attention(local, true);
      const double flops = 10.0 * static_cast<double>(a.batch * a.heads * a.query_length) *
                           static_cast<double>(a.key_length * a.head_dim) / (a.causal ? 2 : 1);
      emit.add("", cost.attention(a), flops, 0);
      break;
    }
    case OpKind::conv2d:
      convolution_input_gradient(local, emit);
      break;
    case OpKind::max_pool:
      max_pool(local, emit);  // the gradient goes the same way back
      break;
    case OpKind::loss_sum_exp:
      emit.memory(MemoryBoundKind::cross_entropy,
                  8 * local.volume());  // fp32 softmax in and out, cast to the logits' type
      break;
    default: {
      const Traffic& t = traffic_of(op.kind);
      const double bytes = op.kind == OpKind::swiglu ? t.backward / 2 : t.backward;
      emit.memory(t.kind, bytes * scale * local.volume());
    }
  }
  return std::move(emit).take();
}

std::vector<Kernel> weight_gradient_kernels(const LocalOp& local, const cost::ComputeCost& cost) {
  Emitter emit(local, cost, ".wgrad");
  if (local.op->parameters.empty()) return {};
  switch (local.op->kind) {
    case OpKind::embedding: {
      const double elements = static_cast<double>(local.size("batch") * local.size("seq") * local.size("hidden"));
      emit.memory(MemoryBoundKind::embedding, (local.element_bytes + 2 * local.gradient_bytes) * elements);
      break;
    }
    case OpKind::linear: {
      const LinearShape s(local);
      // Accumulated into the main gradient by the GEMM itself (Megatron-LM's gradient accumulation fusion).
      emit.gemm(1, s.in, s.out, s.rows, 2 * local.gradient_bytes);
      if (local.op->has_bias) {
        emit.memory(MemoryBoundKind::elementwise, local.element_bytes * static_cast<double>(s.rows * s.out), ".bias");
      }
      break;
    }
    case OpKind::conv2d:
      convolution_weight_gradient(local, emit);
      break;
    case OpKind::residual_add:
      emit.memory(MemoryBoundKind::elementwise, local.element_bytes * local.volume(), ".bias");
      break;
    default:
      break;  // norms and the position table: part of the kernel of the input gradient
  }
  return std::move(emit).take();
}

Kernel accumulation_kernel(double elements, double element_bytes, const cost::ComputeCost& cost) {
  const double bytes = 3 * element_bytes * elements;
  return {"gradient.accumulate", cost.memory_bound(MemoryBoundKind::add, bytes), 0, bytes};
}

}  // namespace proteus::graph
