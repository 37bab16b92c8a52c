// SPDX-License-Identifier: Apache-2.0
#include "convolution_kernels.hpp"

namespace proteus::graph {
namespace {

struct ConvolutionShape {
  std::int64_t positions;  ///< of the output, over the batch
  std::int64_t in, out;    ///< channels
  std::int64_t window;     ///< positions of the kernel
  double input_elements;

  explicit ConvolutionShape(const LocalOp& l)
      : positions(l.size("batch") * l.size("height") * l.size("width")),
        in(l.size("in")),
        out(l.size("out")),
        window(l.size("kernel_height") * l.size("kernel_width")),
        input_elements(static_cast<double>(positions * l.op->stride * l.op->stride * in)) {}

  double output_elements() const { return static_cast<double>(positions * out); }
};

}  // namespace

void convolution(const LocalOp& local, KernelEmitter& emit) {
  const ConvolutionShape s(local);
  emit.gemm(1, s.positions, s.out, s.in * s.window, local.element_bytes, s.input_elements);
}

// Of a strided convolution too, every product of the forward pass comes once.
void convolution_input_gradient(const LocalOp& local, KernelEmitter& emit) {
  const ConvolutionShape s(local);
  emit.gemm(1, s.positions, s.in, s.out * s.window, local.element_bytes, s.output_elements());
}

void convolution_weight_gradient(const LocalOp& local, KernelEmitter& emit) {
  const ConvolutionShape s(local);
  emit.gemm(1, s.in * s.window, s.out, s.positions, local.gradient_bytes, s.input_elements);
  if (local.op->has_bias) {
    emit.memory(cost::MemoryBoundKind::elementwise, local.element_bytes * s.output_elements(), ".bias");
  }
}

void max_pool(const LocalOp& local, KernelEmitter& emit) {
  constexpr double index_bytes = 8;
  const auto stride = static_cast<double>(local.op->stride);
  const double per_output = local.element_bytes * (stride * stride + 1) + index_bytes;
  emit.memory(cost::MemoryBoundKind::elementwise, per_output * local.volume());
}

}  // namespace proteus::graph
