// SPDX-License-Identifier: Apache-2.0
#include "huggingface.hpp"

#include <algorithm>

#include "yaml_parse.hpp"
#include "yaml_read.hpp"

namespace proteus::io {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;

/// A config.json has many keys that say nothing about shapes; so unknown keys are fine here, unlike in our own files.
class Config {
 public:
  explicit Config(const YamlValue& value) : value_(value) {}

  bool has(const std::string& key) const { return get(key) != nullptr; }

  const YamlValue& at(const std::string& key) const {
    const YamlValue* found = get(key);
    if (found == nullptr) throw InputError(value_.where, key, "required key is missing", "a key of config.json");
    return *found;
  }

  YamlItem item(const std::string& key) const { return {at(key), key}; }
  YamlValue integer(const std::string& key) const {
    return YamlValue::plain(std::to_string(item(key).integer(1, kLargest)));
  }
  YamlValue integer_or(const std::string& key, const YamlValue& fallback) const {
    return has(key) ? integer(key) : fallback;
  }
  bool flag_or(const std::string& key, bool fallback) const { return has(key) ? item(key).boolean() : fallback; }
  bool positive(const std::string& key, double fallback) const {
    return (has(key) ? item(key).number(0, 1) : fallback) > 0;
  }

 private:
  /// null means the same as an absent key in these files.
  const YamlValue* get(const std::string& key) const {
    const YamlValue* found = value_.find(key);
    return found == nullptr || found->kind == YamlValue::Kind::null ? nullptr : found;
  }

  const YamlValue& value_;
};

YamlValue flag(bool value) { return YamlValue::plain(value ? "true" : "false"); }

void expect(const Config& config, const std::string& key, const std::vector<std::string_view>& allowed) {
  if (!config.has(key)) return;
  const std::string found = config.item(key).text();
  if (std::ranges::find(allowed, std::string_view(found)) != allowed.end()) return;
  config.item(key).fail(quoted_for_message(found) + " is not supported", one_of(allowed));
}

YamlValue llama(const Config& config) {
  expect(config, "hidden_act", {"silu"});
  const bool bias = config.flag_or("attention_bias", false);
  if (config.flag_or("mlp_bias", false) != bias) {
    config.item(bias ? "attention_bias" : "mlp_bias").fail("only some of the linear layers have a bias", "all or none");
  }
  YamlValue map = YamlValue::map();
  map.set("layers", config.integer("num_hidden_layers")).set("hidden", config.integer("hidden_size"));
  map.set("heads", config.integer("num_attention_heads"));
  map.set("kv_heads", config.integer_or("num_key_value_heads", config.integer("num_attention_heads")));
  if (config.has("head_dim")) map.set("head_dim", config.integer("head_dim"));
  map.set("ffn_hidden", config.integer("intermediate_size")).set("vocab", config.integer("vocab_size"));
  map.set("activation", YamlValue::plain("swiglu")).set("normalization", YamlValue::plain("rms_norm"));
  map.set("position", YamlValue::plain("rotary")).set("attention", YamlValue::plain("flash"));
  map.set("bias", flag(bias)).set("dropout", flag(config.positive("attention_dropout", 0)));
  map.set("tied_embeddings", flag(config.flag_or("tie_word_embeddings", false)));
  return map;
}

YamlValue gpt2(const Config& config) {
  expect(config, "activation_function", {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"});
  YamlValue map = YamlValue::map();
  const std::int64_t hidden = config.item("n_embd").integer(1, kLargest);
  map.set("layers", config.integer("n_layer")).set("hidden", config.integer("n_embd"));
  map.set("heads", config.integer("n_head"));
  map.set("ffn_hidden", config.integer_or("n_inner", YamlValue::plain(std::to_string(4 * hidden))));
  map.set("vocab", config.integer("vocab_size"));
  map.set("seq_len", config.integer(config.has("n_positions") ? "n_positions" : "n_ctx"));
  map.set("activation", YamlValue::plain("gelu")).set("normalization", YamlValue::plain("layer_norm"));
  map.set("position", YamlValue::plain("learned")).set("attention", YamlValue::plain("flash"));
  // The defaults of transformers' GPT2Config.
  constexpr double kDropout = 0.1;
  const bool dropout = config.positive("attn_pdrop", kDropout) || config.positive("resid_pdrop", kDropout);
  map.set("bias", flag(true)).set("dropout", flag(dropout));
  map.set("tied_embeddings", flag(config.flag_or("tie_word_embeddings", true)));
  return map;
}

/// Models with another head (classification, embeddings) have other parameters and no loss over the vocabulary.
void expect_language_model(const Config& config) {
  if (!config.has("architectures")) return;
  for (const YamlItem& architecture : config.item("architectures").sequence()) {
    const std::string name = architecture.text();
    if (name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel")) return;
    architecture.fail(quoted_for_message(name) + " is not supported", "a causal language model, as LlamaForCausalLM");
  }
}

}  // namespace

YamlValue read_huggingface_config(const std::filesystem::path& file, const std::string& written) {
  const YamlValue value = parse_yaml_file(file);
  if (value.kind != YamlValue::Kind::map) {
    throw InputError({file.string(), value.where.line, value.where.column}, "", "is not a map", "a config.json");
  }
  const Config config(value);
  const std::string type = config.item("model_type").text();
  if (type != "llama" && type != "mistral" && type != "gpt2") {
    throw InputError(config.at("model_type").where, "", "model_type " + quoted_for_message(type) + " is not supported",
                     "llama, mistral or gpt2");
  }
  expect_language_model(config);
  YamlValue map = type == "gpt2" ? gpt2(config) : llama(config);
  map.where = value.where;
  map.set("label", YamlValue::string(std::filesystem::path(written).stem().string()));
  map.set("source", YamlValue::string("Hugging Face configuration " + written));
  return map;
}

}  // namespace proteus::io
