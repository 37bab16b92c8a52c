// SPDX-License-Identifier: Apache-2.0
#include "proteus/model/model.hpp"

namespace proteus::model {
namespace {

std::int64_t layers_of(const TransformerConfig& config) { return config.layers; }
std::int64_t tokens_of(const TransformerConfig& config) { return config.seq_len; }
std::int64_t tokens_of(const ConvNetConfig& /*config*/) { return 0; }
Graph graph_of(const TransformerConfig& config, const GraphOptions& options) {
  return build_transformer(config, options);
}
Graph graph_of(const ConvNetConfig& config, const GraphOptions& options) { return build_convnet(config, options); }

}  // namespace

std::int64_t Model::layers() const {
  return std::visit([](const auto& config) { return layers_of(config); }, family);
}

std::int64_t Model::tokens_per_sample() const {
  return std::visit([](const auto& config) { return tokens_of(config); }, family);
}

Graph Model::build(const GraphOptions& options) const {
  return std::visit([&](const auto& config) { return graph_of(config, options); }, family);
}

}  // namespace proteus::model
