// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace proteus::model {

enum class Activation : std::uint8_t { gelu, swiglu };
enum class Normalization : std::uint8_t { layer_norm, rms_norm };
enum class PositionEmbedding : std::uint8_t { learned, rotary };
enum class AttentionKernel : std::uint8_t { unfused, flash };

/// A decoder-only transformer language model: what catalog/models/*.yaml, an inline `model:` or a Hugging Face
/// config.json says.
struct TransformerConfig {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;     ///< query heads
  std::int64_t kv_heads = 0;  ///< = heads without grouped-query attention
  std::int64_t head_dim = 0;  ///< hidden / heads unless given
  std::int64_t ffn_hidden = 0;
  std::int64_t vocab = 0;    ///< as trained, before padding
  std::int64_t seq_len = 0;  ///< tokens of one sample
  Activation activation = Activation::gelu;
  Normalization normalization = Normalization::layer_norm;
  PositionEmbedding position = PositionEmbedding::learned;
  AttentionKernel attention = AttentionKernel::flash;
  bool bias = true;             ///< linear layers carry a bias
  bool dropout = false;         ///< dropout on attention probabilities and on both residual branches
  bool tied_embeddings = true;  ///< the language-model head uses the word embedding's weight
};

}  // namespace proteus::model
