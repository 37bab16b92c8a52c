// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proteus/model/graph.hpp"

namespace proteus::model {

/// Appends ops and tensors in topological order: what the builders of all families share.
class GraphBuilder {
 public:
  /// `type`: of parameters, and of activations unless said otherwise.
  explicit GraphBuilder(DataType type) : type_(type) {}

  static Dim along(std::string name, std::int64_t size, DimKind kind = DimKind::parallel) {
    return {std::move(name), size, kind};
  }

  const std::vector<std::int64_t>& extents(TensorId tensor) const { return graph_.tensors[tensor].extents; }
  DataType type() const { return type_; }

  TensorId parameter(const std::string& name, std::vector<std::int64_t> extents) {
    return tensor(name, std::move(extents), type_, true);
  }

  /// Appends `op` with one output that runs along `output_dims`; returns the output.
  TensorId add(Op op, const std::vector<int>& output_dims) { return add(std::move(op), output_dims, type_); }
  TensorId add(Op op, const std::vector<int>& output_dims, DataType type);
  /// The same where a dim of the output is larger than the op's dim that it runs along.
  TensorId add_shaped(Op op, const std::vector<int>& output_dims, std::vector<std::int64_t> extents, DataType type);

  /// Ops that follow belong to this repeated block; see Op::layer.
  void enter_layer(std::int64_t layer) { layer_ = static_cast<int>(layer); }
  void leave_layers() { layer_ = -1; }

  Graph take(std::int64_t layers) && {
    graph_.layers = layers;
    return std::move(graph_);
  }

 private:
  TensorId tensor(std::string name, std::vector<std::int64_t> extents, DataType type, bool parameter);

  DataType type_;
  Graph graph_;
  int layer_ = -1;
};

}  // namespace proteus::model
