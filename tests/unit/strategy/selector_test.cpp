// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "proteus/strategy/tree.hpp"

namespace proteus::strategy {
namespace {

constexpr int layers = 4;

/// Each layer: 2 norms, qkv, flash attention, proj, fc1, activation, fc2, 2 adds. Two embeddings; norm, output and four
/// parts of the loss in the head.
model::Graph graph() {
  model::TransformerConfig config;
  config.layers = layers;
  config.hidden = 64;
  config.heads = config.kv_heads = 8;
  config.head_dim = 8;
  config.ffn_hidden = 256;
  config.vocab = 512;
  config.seq_len = 32;
  return model::build_transformer(config, {});
}

struct Case {
  const char* text;
  long matches;
};

class Selects : public testing::TestWithParam<Case> {};

TEST_P(Selects, AsManyOpsAsItSays) {
  const model::Graph g = graph();
  const Selector selector(GetParam().text, {});
  EXPECT_EQ(std::count_if(g.ops.begin(), g.ops.end(), [&](const model::Op& op) { return selector.matches(op); }),
            GetParam().matches)
      << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Paths, Selects,
                         testing::Values(Case{"layers.*.attention.qkv", 4}, Case{"layers[1].attention.qkv", 1},
                                         Case{"layers.1.attention.qkv", 1},   // brackets are a way to write it
                                         Case{"layers[1]", 10},               // a module stands for what is below it
                                         Case{"embedding", 2},                //
                                         Case{"layers[9]", 0},                //
                                         Case{"layers.*.attention.pro", 0},   // a segment matches whole
                                         Case{"layers.*.mlp.fc*", 2 * 4},     // "*" within a segment
                                         Case{"layers.*.*.n*m", 2 * 4},       // in its middle
                                         Case{"*", 2 + 10 * 4 + 6},           //
                                         Case{"**", 2 + 10 * 4 + 6},          // any number of segments, none too
                                         Case{"**.norm", 2 * 4 + 1},          //
                                         Case{"layers.**.norm", 2 * 4},       //
                                         Case{"**.attention.**.flash", 4}));  //

INSTANTIATE_TEST_SUITE_P(Ranges, Selects,
                         testing::Values(Case{"layers[0:3].attention.qkv", 3},    // half open
                                         Case{"layers[1:].attention.qkv", 3},     //
                                         Case{"layers[:1].attention.qkv", 1},     //
                                         Case{"layers[0:4:2].attention.qkv", 2},  // layers 0 and 2
                                         Case{"layers[1::2].attention.qkv", 2},   // layers 1 and 3
                                         Case{"layers[0:4:3].attention.qkv", 2},  // layers 0 and 3
                                         Case{"layers[2:2].attention.qkv", 0}));

INSTANTIATE_TEST_SUITE_P(Kinds, Selects,
                         testing::Values(Case{"layers.*:linear", 4 * 4},  // qkv, proj, fc1, fc2
                                         Case{"**:linear", 4 * 4 + 1},    // and the head
                                         Case{"layers[0:2]:layer_norm", 2 * 2},
                                         Case{"layers[1:4:2].attention:flash_attention", 2},
                                         Case{"embedding:linear", 0}));

TEST(Selector, RefusesWhatItCannotRead) {
  EXPECT_THROW(Selector("layers[a:b]", {}), InputError);
  EXPECT_THROW(Selector("layers[0:4:0]", {}), InputError);
  EXPECT_THROW(Selector("layers[0:1:2:3]", {}), InputError);
  EXPECT_THROW(Selector("", {}), InputError);
  try {
    Selector("**:convolution", {"job.yaml", 7, 3});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("job.yaml:7"));
    EXPECT_THAT(error.what(), testing::HasSubstr("unknown op kind `convolution`"));
  }
}

}  // namespace
}  // namespace proteus::strategy
