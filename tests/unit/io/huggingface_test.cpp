// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>

#include "experiment_text.hpp"

namespace proteus::io {
namespace {

using test::catalog;
using test::kCluster;
namespace fs = std::filesystem;

const std::string kStrategy = "strategy: {preset: megatron, global_batch: 16}\n";

class HuggingFace : public test::ExperimentFiles {
 protected:
  model::TransformerConfig model(const std::string& json, const std::string& more = "") const {
    write(json, "config.json");
    const model::Model found = read("model: {file: config.json" + more + "}\n" + kCluster + kStrategy).model;
    EXPECT_EQ(found.name, "config");
    return std::get<model::TransformerConfig>(found.family);
  }
  std::string problem(const std::string& json, const std::string& more = "") const {
    write(json, "config.json");
    return error("model: {file: config.json" + more + "}\n" + kCluster + kStrategy);
  }
};

const std::string kLlama = R"({
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "hidden_act": "silu",
  "hidden_size": 2048, "intermediate_size": 8192,
  "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
  "max_position_embeddings": 131072, "rope_scaling": {"factor": 32.0},
  "tie_word_embeddings": true, "vocab_size": 128256, "use_cache": true
})";

TEST_F(HuggingFace, Llama) {
  const model::TransformerConfig m = model(kLlama, ", seq_len: 8192");
  EXPECT_EQ(m.layers, 16);
  EXPECT_EQ(m.hidden, 2048);
  EXPECT_EQ(m.heads, 32);
  EXPECT_EQ(m.kv_heads, 8);
  EXPECT_EQ(m.head_dim, 64);
  EXPECT_EQ(m.ffn_hidden, 8192);
  EXPECT_EQ(m.vocab, 128256);
  EXPECT_EQ(m.seq_len, 8192);
  EXPECT_EQ(m.activation, model::Activation::swiglu);
  EXPECT_EQ(m.normalization, model::Normalization::rms_norm);
  EXPECT_EQ(m.position, model::PositionEmbedding::rotary);
  EXPECT_FALSE(m.bias);
  EXPECT_FALSE(m.dropout);
  EXPECT_TRUE(m.tied_embeddings);
}

TEST_F(HuggingFace, TheLongestContextIsNotTheTrainedOne) {
  EXPECT_EQ(
      problem(kLlama),
      "e.yaml:1: model.seq_len: required key is missing (expected `seq_len` beside layers, hidden, heads, kv_heads, "
      "head_dim, ffn_hidden, vocab...)");
}

TEST_F(HuggingFace, Gpt2FillsWhatTheFileLeavesOut) {
  const model::TransformerConfig m = model(
      R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48, "n_positions": 1024, "vocab_size": 50257,
          "n_inner": null, "activation_function": "gelu_new"})");
  EXPECT_EQ(m.ffn_hidden, 6400);
  EXPECT_EQ(m.seq_len, 1024);
  EXPECT_EQ(m.head_dim, 64);
  EXPECT_TRUE(m.bias);
  EXPECT_TRUE(m.dropout);
  EXPECT_TRUE(m.tied_embeddings);
}

TEST_F(HuggingFace, UnsupportedThingsAreNamed) {
  EXPECT_EQ(problem("{\n  \"model_type\": \"mixtral\"}"),
            "config.json:2: model_type `mixtral` is not supported (expected llama, mistral or gpt2)");
  EXPECT_EQ(problem("{\"d_model\": 4}"),
            "config.json:1: model_type: required key is missing (expected a key of config.json)");
  EXPECT_THAT(problem(R"({"model_type": "mistral", "architectures": ["MistralModel"]})"),
              testing::HasSubstr("`MistralModel` is not supported"));
  EXPECT_THAT(problem(R"({"model_type": "llama", "hidden_act": "relu"})"), testing::HasSubstr("hidden_act: `relu`"));
  EXPECT_THAT(problem(R"({"model_type": "llama"})"), testing::HasSubstr("num_hidden_layers: required key is missing"));
  EXPECT_THAT(problem(R"({"model_type": "gpt2", "n_embd": "wide"})"), testing::HasSubstr("n_embd: is the text `wide`"));
  EXPECT_THAT(problem("[1]"), testing::HasSubstr("is not a map"));
  EXPECT_THAT(problem("{"), testing::HasSubstr("not valid YAML"));
}

/// Every configuration of a collection either reads or is refused with a reason. The collection is not in the
/// repository; $PROTEUS_SHARED_DATA names the folder that holds hf_configs/.
TEST_F(HuggingFace, CollectedConfigurationsReadOrAreRefused) {
  const char* data = std::getenv("PROTEUS_SHARED_DATA");
  if (data == nullptr) GTEST_SKIP() << "PROTEUS_SHARED_DATA is not set";
  int good = 0;
  int refused = 0;
  for (const auto& file : fs::directory_iterator(fs::path(data) / "hf_configs")) {
    if (file.path().extension() != ".json") continue;
    try {
      const std::string model = "model: {file: \"" + file.path().string() + "\", seq_len: 1024}\n";
      const Experiment e = read(model + kCluster + kStrategy);
      EXPECT_GT(e.model.layers(), 0);
      ++good;
    } catch (const InputError& problem) {
      EXPECT_EQ(std::string(problem.what()).find('\n'), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GE(good, 5);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace proteus::io
