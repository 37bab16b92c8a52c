// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_emitter.hpp"

/// Kernels of convolutional networks. Convolutions are implicit GEMMs, as cuDNN's (Chetlur et al., cuDNN: Efficient
/// Primitives for Deep Learning, arXiv:1410.0759, section 3): batch x height x width rows, one column an output
/// channel.
namespace proteus::graph {

void convolution(const LocalOp& local, KernelEmitter& emit);
void convolution_input_gradient(const LocalOp& local, KernelEmitter& emit);
void convolution_weight_gradient(const LocalOp& local, KernelEmitter& emit);

/// Reads every input once and writes outputs with an 8-byte index each (PyTorch keeps it for backward); backward moves
/// the same bytes the other way.
void max_pool(const LocalOp& local, KernelEmitter& emit);

}  // namespace proteus::graph
