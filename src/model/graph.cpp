// SPDX-License-Identifier: Apache-2.0
#include "proteus/model/graph.hpp"

#include <algorithm>

namespace proteus::model {

std::int64_t Tensor::elements() const {
  std::int64_t count = 1;
  for (std::int64_t extent : extents) count *= extent;
  return count;
}

std::string_view name_of(OpKind kind) {
  switch (kind) {
    case OpKind::embedding:
      return "embedding";
    case OpKind::position:
      return "position";
    case OpKind::layer_norm:
      return "layer_norm";
    case OpKind::rms_norm:
      return "rms_norm";
    case OpKind::linear:
      return "linear";
    case OpKind::rope:
      return "rope";
    case OpKind::attention_scores:
      return "attention_scores";
    case OpKind::attention_softmax:
      return "attention_softmax";
    case OpKind::attention_dropout:
      return "attention_dropout";
    case OpKind::attention_context:
      return "attention_context";
    case OpKind::flash_attention:
      return "flash_attention";
    case OpKind::residual_add:
      return "residual_add";
    case OpKind::gelu:
      return "gelu";
    case OpKind::swiglu:
      return "swiglu";
    case OpKind::loss_max:
      return "loss_max";
    case OpKind::loss_predicted:
      return "loss_predicted";
    case OpKind::loss_sum_exp:
      return "loss_sum_exp";
    case OpKind::loss_value:
      return "loss_value";
    case OpKind::conv2d:
      return "conv2d";
    case OpKind::batch_norm:
      return "batch_norm";
    case OpKind::relu:
      return "relu";
    case OpKind::dropout:
      return "dropout";
    case OpKind::max_pool:
      return "max_pool";
    case OpKind::global_average_pool:
      return "global_average_pool";
    case OpKind::softmax_loss:
      return "softmax_loss";
  }
  return "?";
}

int Op::dim(std::string_view name) const {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

double Op::forward_flops() const {
  double volume = 1;
  for (const Dim& dim : dims) volume *= static_cast<double>(dim.size);
  switch (kind) {
    case OpKind::linear:
    case OpKind::conv2d:
    case OpKind::attention_scores:
    case OpKind::attention_context:
      return 2 * volume;
    case OpKind::flash_attention:
      return 4 * volume;  // two products over the same iteration space
    default:
      return 0;
  }
}

std::vector<std::vector<OpId>> Graph::consumers() const {
  std::vector<std::vector<OpId>> readers(tensors.size());
  for (OpId id = 0; id < ops.size(); ++id) {
    for (const Operand& operand : ops[id].inputs) {
      auto& found = readers[operand.tensor];
      if (found.empty() || found.back() != id) found.push_back(id);
    }
  }
  return readers;
}

}  // namespace proteus::model
