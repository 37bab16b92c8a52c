// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "proteus/model/graph.hpp"

namespace proteus::model {
namespace {

TransformerConfig gpt2() {
  TransformerConfig config;
  config.layers = 12;
  config.hidden = 768;
  config.heads = config.kv_heads = 12;
  config.head_dim = 64;
  config.ffn_hidden = 4 * 768;
  config.vocab = 50257;
  config.seq_len = 1024;
  config.dropout = true;
  config.attention = AttentionKernel::unfused;
  return config;
}

std::int64_t parameters(const Graph& graph) {
  std::int64_t count = 0;
  for (const Tensor& tensor : graph.tensors) count += tensor.parameter ? tensor.elements() : 0;
  return count;
}

TEST(Transformer, Gpt2HasThePublishedNumberOfParameters) {
  // V h + s h + L (12 h^2 + 13 h) + 2 h = 124,439,808 (Radford et al. 2019; the released checkpoint).
  EXPECT_EQ(parameters(build_transformer(gpt2(), {})), 124439808);
}

TEST(Transformer, AnUntiedHeadHasItsOwnTable) {
  TransformerConfig config = gpt2();
  config.tied_embeddings = false;
  EXPECT_EQ(parameters(build_transformer(config, {})), 124439808 + 50257 * 768);
}

TEST(Transformer, PadsTheVocabulary) {
  GraphOptions options;
  options.vocab_multiple = 256;
  // 50257 rounds up to 50432 = 197 * 256.
  EXPECT_EQ(parameters(build_transformer(gpt2(), options)), 124439808 + (50432 - 50257) * 768);
}

TEST(Transformer, LlamaHasGroupedHeadsAndGatedFeedForward) {
  TransformerConfig config;
  config.layers = 32;
  config.hidden = 4096;
  config.heads = 32;
  config.kv_heads = 8;
  config.head_dim = 128;
  config.ffn_hidden = 14336;
  config.vocab = 128256;
  config.seq_len = 8192;
  config.activation = Activation::swiglu;
  config.normalization = Normalization::rms_norm;
  config.position = PositionEmbedding::rotary;
  config.bias = false;
  config.tied_embeddings = false;
  // Llama 3 8B: 8,030,261,248 parameters (Meta, model card).
  EXPECT_EQ(parameters(build_transformer(config, {})), 8030261248);
}

TEST(Transformer, ForwardFlopsFollowTheArchitecture) {
  const TransformerConfig config = gpt2();
  GraphOptions options;
  options.batch = 3;
  double flops = 0;
  for (const Op& op : build_transformer(config, options).ops) flops += op.forward_flops();
  // Per token: 2 * 12 h^2 in the linears of a layer, 2 * 2 s h in attention, 2 V h in the head.
  const double h = 768, s = 1024, v = 50257, tokens = 3 * s;
  EXPECT_DOUBLE_EQ(flops, tokens * (12 * (24 * h * h + 4 * s * h) + 2 * v * h));
}

TEST(Transformer, EveryTensorIsMadeBeforeItIsRead) {
  const Graph graph = build_transformer(gpt2(), {});
  for (OpId id = 0; id < graph.ops.size(); ++id) {
    for (const Operand& input : graph.ops[id].inputs) EXPECT_LT(graph.tensors[input.tensor].producer, id);
    for (const Operand& parameter : graph.ops[id].parameters) EXPECT_TRUE(graph.tensors[parameter.tensor].parameter);
  }
}

}  // namespace
}  // namespace proteus::model
