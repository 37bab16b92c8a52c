// SPDX-License-Identifier: Apache-2.0
#include "graph_builder.hpp"

namespace proteus::model {

TensorId GraphBuilder::tensor(std::string name, std::vector<std::int64_t> extents, DataType type, bool parameter) {
  graph_.tensors.push_back({std::move(name), std::move(extents), type, parameter, no_op});
  return static_cast<TensorId>(graph_.tensors.size() - 1);
}

TensorId GraphBuilder::add(Op op, const std::vector<int>& output_dims, DataType type) {
  std::vector<std::int64_t> extents;
  for (int dim : output_dims) extents.push_back(op.dims[static_cast<std::size_t>(dim)].size);
  return add_shaped(std::move(op), output_dims, std::move(extents), type);
}

TensorId GraphBuilder::add_shaped(Op op, const std::vector<int>& output_dims, std::vector<std::int64_t> extents,
                                  DataType type) {
  op.layer = layer_;
  const TensorId out = tensor(op.path + ".out", std::move(extents), type, false);
  op.outputs = {{out, output_dims}};
  graph_.tensors[out].producer = static_cast<OpId>(graph_.ops.size());
  graph_.ops.push_back(std::move(op));
  return out;
}

}  // namespace proteus::model
