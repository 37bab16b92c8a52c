// SPDX-License-Identifier: Apache-2.0
#include "transformer_yaml.hpp"

#include "catalog.hpp"

namespace proteus::io {
namespace {

using model::Activation;
using model::AttentionKernel;
using model::Normalization;
using model::PositionEmbedding;

constexpr std::int64_t kLargest = std::int64_t{1} << 31;

/// Heads must fill the hidden size unless their width is given apart, and share key-value heads evenly.
void check_heads(const YamlMap& map, model::TransformerConfig& config) {
  if (auto width = map.get("head_dim")) {
    config.head_dim = width->integer(1, kLargest);
  } else if (config.hidden % config.heads != 0) {
    map.fail("heads", std::to_string(config.heads) + " heads do not divide hidden " + std::to_string(config.hidden),
             "a divisor of hidden, or head_dim");
  } else {
    config.head_dim = config.hidden / config.heads;
  }
  if (config.heads % config.kv_heads != 0) {
    map.fail(
        map.has("kv_heads") ? "kv_heads" : "heads",
        std::to_string(config.kv_heads) + " key-value heads do not divide " + std::to_string(config.heads) + " heads",
        "a divisor of heads");
  }
}

YamlValue integer(std::int64_t value) { return YamlValue::plain(std::to_string(value)); }
YamlValue flag(bool value) { return YamlValue::plain(value ? "true" : "false"); }

}  // namespace

model::TransformerConfig read_transformer(const YamlItem& item) {
  const YamlMap map(item, with_description_keys({"layers", "hidden", "heads", "kv_heads", "head_dim", "ffn_hidden",
                                                 "vocab", "seq_len", "activation", "normalization", "position",
                                                 "attention", "bias", "dropout", "tied_embeddings", "family"}));
  model::TransformerConfig config;
  constexpr std::int64_t kMostLayers = 16384;  // the time of compiling is not linear in them
  config.layers = map.at("layers").integer(1, kMostLayers);
  config.hidden = map.at("hidden").integer(1, kLargest);
  config.heads = map.at("heads").integer(1, kLargest);
  config.kv_heads = config.heads;
  if (auto heads = map.get("kv_heads")) config.kv_heads = heads->integer(1, kLargest);
  check_heads(map, config);
  config.ffn_hidden = map.at("ffn_hidden").integer(1, kLargest);
  config.vocab = map.at("vocab").integer(1, kLargest);
  config.seq_len = map.at("seq_len").integer(1, kLargest);
  config.activation =
      map.at("activation").choice<Activation>({{"gelu", Activation::gelu}, {"swiglu", Activation::swiglu}});
  config.normalization =
      map.at("normalization")
          .choice<Normalization>({{"layer_norm", Normalization::layer_norm}, {"rms_norm", Normalization::rms_norm}});
  config.position =
      map.at("position")
          .choice<PositionEmbedding>({{"learned", PositionEmbedding::learned}, {"rotary", PositionEmbedding::rotary}});
  config.attention =
      map.at("attention")
          .choice<AttentionKernel>({{"unfused", AttentionKernel::unfused}, {"flash", AttentionKernel::flash}});
  config.bias = map.at("bias").boolean();
  config.dropout = map.at("dropout").boolean();
  config.tied_embeddings = map.at("tied_embeddings").boolean();
  return config;
}

YamlValue transformer_to_yaml(const model::TransformerConfig& config) {
  YamlValue map = YamlValue::map();
  map.set("family", YamlValue::plain("transformer")).set("layers", integer(config.layers));
  map.set("hidden", integer(config.hidden)).set("heads", integer(config.heads));
  map.set("kv_heads", integer(config.kv_heads)).set("head_dim", integer(config.head_dim));
  map.set("ffn_hidden", integer(config.ffn_hidden)).set("vocab", integer(config.vocab));
  map.set("seq_len", integer(config.seq_len));
  map.set("activation", YamlValue::plain(config.activation == Activation::gelu ? "gelu" : "swiglu"));
  const bool layer_norm = config.normalization == Normalization::layer_norm;
  map.set("normalization", YamlValue::plain(layer_norm ? "layer_norm" : "rms_norm"));
  map.set("position", YamlValue::plain(config.position == PositionEmbedding::learned ? "learned" : "rotary"));
  map.set("attention", YamlValue::plain(config.attention == AttentionKernel::unfused ? "unfused" : "flash"));
  map.set("bias", flag(config.bias)).set("dropout", flag(config.dropout));
  map.set("tied_embeddings", flag(config.tied_embeddings));
  return map;
}

}  // namespace proteus::io
