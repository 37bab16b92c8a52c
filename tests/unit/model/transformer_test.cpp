// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

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

TEST(Transformer, Gpt3HasTheParametersOfNarayanansFormula) {
  TransformerConfig config = gpt2();
  config.layers = 96;
  config.hidden = 12288;
  config.heads = config.kv_heads = 96;
  config.head_dim = 128;
  config.ffn_hidden = 4 * 12288;
  config.vocab = 51200;
  config.seq_len = 2048;
  // 12 L h^2 (1 + 13 / (12 h) + (V + s) / (12 L h)) (Narayanan et al. 2021, equation 2), which leaves out the last
  // norm.
  const std::int64_t h = 12288, l = 96;
  EXPECT_EQ(parameters(build_transformer(config, {})), 12 * l * h * h + 13 * l * h + (51200 + 2048) * h + 2 * h);
}

TEST(Transformer, GroupedHeadsAndGatesCountInTheFlops) {
  TransformerConfig config = gpt2();
  config.layers = 2;
  config.hidden = 512;
  config.heads = 8;
  config.kv_heads = 2;
  config.head_dim = 96;  // need not be hidden / heads
  config.ffn_hidden = 1408;
  config.vocab = 1000;
  config.seq_len = 256;
  config.activation = Activation::swiglu;
  config.normalization = Normalization::rms_norm;
  config.position = PositionEmbedding::rotary;
  config.bias = false;
  // Per token and layer: h (q + 2 kv) d, q d h, and three matrices of h f; scores and context 2 s q d each, all heads.
  const double h = 512, d = 96, f = 1408, s = 256;
  const double layer = 2 * (h * (8 + 2 * 2) * d + 8 * d * h + 3 * h * f) + 4 * s * 8 * d;
  for (AttentionKernel kernel : {AttentionKernel::flash, AttentionKernel::unfused}) {
    config.attention = kernel;
    double flops = 0;
    for (const Op& op : build_transformer(config, {}).ops) flops += op.forward_flops();
    EXPECT_DOUBLE_EQ(flops, s * (2 * layer + 2 * h * 1000));
  }
}

TEST(Transformer, ALayerSavesWhatKorthikantiCounts) {
  // s b h (34 + 5 a s / h) bytes (Korthikanti et al. 2022, equation 1), by counting every saved tensor once.
  GraphOptions options;
  options.batch = 3;
  const Graph graph = build_transformer(gpt2(), options);
  std::map<TensorId, double> saved;
  double masks = 0;
  for (const Op& op : graph.ops) {
    if (op.layer != 5) continue;
    const TensorId out = op.outputs.at(0).tensor;
    for (int input : op.saved.inputs) saved[op.inputs[static_cast<std::size_t>(input)].tensor] = 2;
    if (op.saved.output) saved[out] = 2;
    masks += op.saved.output_extra_bytes * static_cast<double>(graph.tensors[out].elements());
  }
  double bytes = masks;
  for (const auto& [tensor, size] : saved) bytes += size * static_cast<double>(graph.tensors[tensor].elements());
  const double s = 1024, b = 3, h = 768, a = 12;
  EXPECT_EQ(bytes, s * b * h * (34 + 5 * a * s / h));
}

TEST(Transformer, RotaryPositionsHaveNoTable) {
  TransformerConfig config = gpt2();
  const auto count = [&](OpKind kind) {
    const Graph graph = build_transformer(config, {});
    return std::count_if(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return op.kind == kind; });
  };
  EXPECT_EQ(count(OpKind::position), 1);
  EXPECT_EQ(count(OpKind::rope), 0);
  config.position = PositionEmbedding::rotary;
  EXPECT_EQ(count(OpKind::position), 0);
  EXPECT_EQ(count(OpKind::rope), 12);
  EXPECT_EQ(parameters(build_transformer(config, {})), 124439808 - 1024 * 768);
}

TEST(Transformer, OperandsRunAlongDimsOfTheirSize) {
  for (AttentionKernel kernel : {AttentionKernel::flash, AttentionKernel::unfused}) {
    TransformerConfig config = gpt2();
    config.attention = kernel;
    const Graph graph = build_transformer(config, {});
    for (const Op& op : graph.ops) {
      for (const auto* operands : {&op.inputs, &op.parameters, &op.outputs}) {
        for (const Operand& operand : *operands) {
          const Tensor& tensor = graph.tensors[operand.tensor];
          ASSERT_EQ(tensor.extents.size(), operand.dims.size()) << op.path;
          for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
            const auto dim = static_cast<std::size_t>(operand.dims[i]);
            ASSERT_LT(dim, op.dims.size()) << op.path;
            // What stands for several dims at once (the fused QKV of attention) must not be split.
            if (op.dims[dim].size != tensor.extents[i]) {
              EXPECT_EQ(op.dims[dim].kind, DimKind::opaque) << op.path << " dim " << op.dims[dim].name;
            }
          }
        }
      }
    }
  }
}

TEST(Transformer, ConsumersOfATensor) {
  const Graph graph = build_transformer(gpt2(), {});
  // What a layer reads goes to its norm and past it to the residual.
  const auto add =
      std::find_if(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return op.path == "layers[3].mlp.add"; });
  std::vector<std::string> readers;
  const auto consumers = graph.consumers();
  for (OpId id : consumers.at(add->outputs.at(0).tensor)) readers.push_back(graph.ops[id].path);
  EXPECT_EQ(readers, (std::vector<std::string>{"layers[4].attention.norm", "layers[4].attention.add"}));
}

}  // namespace
}  // namespace proteus::model
