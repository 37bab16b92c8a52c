// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "proteus/cost/compute_cost.hpp"
#include "proteus/model/graph.hpp"
#include "proteus/strategy/mesh.hpp"

namespace proteus::graph {

/// One kernel launch on one device.
struct Kernel {
  std::string kind;  ///< "linear", "linear.dgrad", ...
  cost::Cost cost;
  double flops = 0;  ///< tensor-core operations
  double bytes = 0;  ///< memory traffic
};

/// An op at the size that one device computes.
struct LocalOp {
  const model::Op* op = nullptr;
  std::vector<std::int64_t> dims;  ///< local size of each op dim
  double element_bytes = 2;        ///< activations and weights
  DataType type = DataType::bf16;
  double gradient_bytes = 4;  ///< main gradients

  LocalOp(const model::Op& which, const std::vector<std::vector<strategy::Atom>>& split, const strategy::Mesh& mesh,
          DataType training_type, DataType gradient_type);

  std::int64_t size(std::string_view dim) const;  ///< 1 where the op has no such dim
  double volume() const;
};

/// The kernels that Megatron-LM and PyTorch launch for an op: forward, gradient of the inputs, gradient of the
/// parameters (apart, so that schedules may run them apart). Traffic per element: docs/cost-models.md.
std::vector<Kernel> forward_kernels(const LocalOp& local, const cost::ComputeCost& cost);
std::vector<Kernel> input_gradient_kernels(const LocalOp& local, const cost::ComputeCost& cost);
std::vector<Kernel> weight_gradient_kernels(const LocalOp& local, const cost::ComputeCost& cost);

/// Sum of two gradients of one tensor of `elements` elements, as autograd does where a tensor has several users.
Kernel accumulation_kernel(double elements, double element_bytes, const cost::ComputeCost& cost);

}  // namespace proteus::graph
