// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace proteus::graph {
namespace {

using cost::MemoryBoundKind;
using testing::ElementsAre;

/// Notes what it is asked for.
class RecordingCost final : public cost::ComputeCost {
 public:
  cost::Cost gemm(const cost::Gemm& gemm) const override {
    gemms.push_back(gemm);
    return {};
  }
  cost::Cost attention(const cost::FusedAttention& call) const override {
    attentions.push_back(call);
    return {};
  }
  cost::Cost memory_bound(MemoryBoundKind kind, double bytes) const override {
    memory.emplace_back(kind, bytes);
    return {};
  }
  mutable std::vector<cost::Gemm> gemms;
  mutable std::vector<cost::FusedAttention> attentions;
  mutable std::vector<std::pair<MemoryBoundKind, double>> memory;
};

constexpr std::int64_t b = 4, s = 32, h = 64, a = 8, d = 8, f = 256, v = 512;
constexpr double sbh = s * b * h;

class Kernels : public testing::Test {
 protected:
  Kernels() {
    config_.layers = 2;
    config_.hidden = h;
    config_.heads = config_.kv_heads = a;
    config_.head_dim = d;
    config_.ffn_hidden = f;
    config_.vocab = v;
    config_.seq_len = s;
    config_.dropout = true;
    config_.attention = model::AttentionKernel::unfused;
  }

  /// The op at `path`, with `dim` split over two devices, or none.
  LocalOp local(const std::string& path, const std::string& split = "", DataType type = DataType::bf16) {
    graph_ = model::build_transformer(config_, {b, 1, type});
    for (const model::Op& op : graph_.ops) {
      if (op.path == path) return {op, splits(op, split), mesh_, type, DataType::fp32};
    }
    throw std::out_of_range(path);
  }

  static std::vector<std::vector<strategy::Atom>> splits(const model::Op& op, const std::string& dim) {
    std::vector<std::vector<strategy::Atom>> result(op.dims.size());
    if (!dim.empty()) result.at(static_cast<std::size_t>(op.dim(dim))) = {0};
    return result;
  }

  static strategy::MeshSpec two() {
    strategy::MeshSpec spec;
    spec.order = {"tp"};
    spec.sizes = {{"tp", 2}};
    return spec;
  }

  model::TransformerConfig config_;
  model::Graph graph_;
  strategy::Mesh mesh_{two(), 2};
  RecordingCost cost_;
};

/// m, n, k of a product.
std::array<std::int64_t, 3> shape(const cost::Gemm& gemm) { return {gemm.m, gemm.n, gemm.k}; }

TEST_F(Kernels, ALinearLayerIsThreeProductsOfTheSameVolume) {
  const LocalOp op = local("layers[0].mlp.fc1", "out");
  const double flops = 2.0 * s * b * h * f / 2;  // column-parallel over two devices
  const auto forward = forward_kernels(op, cost_);
  const auto input = input_gradient_kernels(op, cost_);
  const auto weight = weight_gradient_kernels(op, cost_);
  // Y = X W; dX = dY W^T; dW = X^T dY.
  ASSERT_EQ(cost_.gemms.size(), 3u);
  EXPECT_EQ(shape(cost_.gemms[0]), (std::array<std::int64_t, 3>{s * b, f / 2, h}));
  EXPECT_EQ(shape(cost_.gemms[1]), (std::array<std::int64_t, 3>{s * b, h, f / 2}));
  EXPECT_EQ(shape(cost_.gemms[2]), (std::array<std::int64_t, 3>{h, f / 2, s * b}));
  EXPECT_EQ(cost_.gemms[2].output_bytes, 8);  // reads and writes an fp32 accumulator
  EXPECT_EQ(cost_.gemms[0].output_bytes, 2);
  for (const auto& kernels : {forward, input, weight}) EXPECT_EQ(kernels.at(0).flops, flops);
  EXPECT_EQ(forward[0].bytes, 2.0 * (s * b * h + h * f / 2 + s * b * f / 2));
  EXPECT_EQ(weight.at(1).bytes, 2.0 * s * b * f / 2);  // the gradient of the bias reads dY
}

TEST_F(Kernels, ARowParallelLinearHasNoBiasOfItsOwn) {
  EXPECT_EQ(weight_gradient_kernels(local("layers[0].mlp.fc2", "in"), cost_).size(), 1u);
  EXPECT_EQ(shape(cost_.gemms.at(0)), (std::array<std::int64_t, 3>{f / 2, h, s * b}));
}

TEST_F(Kernels, AttentionIsOneProductForEachHead) {
  forward_kernels(local("layers[0].attention.core.scores", "heads"), cost_);
  forward_kernels(local("layers[0].attention.core.context", "heads"), cost_);
  ASSERT_EQ(cost_.gemms.size(), 2u);
  EXPECT_EQ(shape(cost_.gemms[0]), (std::array<std::int64_t, 3>{s, s, d}));
  EXPECT_EQ(shape(cost_.gemms[1]), (std::array<std::int64_t, 3>{s, d, s}));
  for (const cost::Gemm& gemm : cost_.gemms) EXPECT_EQ(gemm.batch, b * a / 2);
}

TEST_F(Kernels, BackwardHasTwiceTheProductsOfForward) {
  // Each product Y = A B has dA = dY B^T and dB = A^T dY. The sum of forward is that of the architecture:
  // 24 s b h^2 + 4 s^2 b h a layer and 2 s b h V in the head (Narayanan et al. 2021, appendix).
  config_.ffn_hidden = 4 * h;
  graph_ = model::build_transformer(config_, {b, 1, DataType::bf16});
  double forward = 0, backward = 0;
  for (const model::Op& op : graph_.ops) {
    const LocalOp whole(op, splits(op, ""), mesh_, DataType::bf16, DataType::fp32);
    for (const Kernel& kernel : forward_kernels(whole, cost_)) forward += kernel.flops;
    for (const Kernel& kernel : input_gradient_kernels(whole, cost_)) backward += kernel.flops;
    for (const Kernel& kernel : weight_gradient_kernels(whole, cost_)) backward += kernel.flops;
  }
  EXPECT_DOUBLE_EQ(forward, 2 * (24 * sbh * h + 4 * sbh * s) + 2 * sbh * v);
  EXPECT_DOUBLE_EQ(backward, 2 * forward);
}

TEST_F(Kernels, FlashAttentionSkipsTheMaskedHalfAndRecomputesTheScores) {
  config_.attention = model::AttentionKernel::flash;
  config_.kv_heads = a / 4;
  const LocalOp op = local("layers[0].attention.core.flash", "heads");
  // Two products of 2 s^2 d, half of them masked; backward has five (Dao 2023, section 3.1). One of two key/value
  // groups.
  const double product = 2.0 * b * (a / 2) * s * s * d / 2;
  EXPECT_EQ(forward_kernels(op, cost_).at(0).flops, 2 * product);
  EXPECT_EQ(input_gradient_kernels(op, cost_).at(0).flops, 5 * product);
  ASSERT_EQ(cost_.attentions.size(), 2u);
  EXPECT_EQ(cost_.attentions[0].heads, a / 2);
  EXPECT_EQ(cost_.attentions[0].kv_heads, 1);
  EXPECT_FALSE(cost_.attentions[0].backward);
  EXPECT_TRUE(cost_.attentions[1].backward);
}

TEST_F(Kernels, MemoryBoundKernelsReadAndWriteEachTensorOnce) {
  const auto forward = [&](const std::string& path, const std::string& split = "") {
    cost_.memory.clear();
    forward_kernels(local(path, split), cost_);
    return cost_.memory.at(0);
  };
  const auto backward = [&](const std::string& path) {
    cost_.memory.clear();
    input_gradient_kernels(local(path), cost_);
    return cost_.memory.at(0);
  };
  using Traffic = std::pair<MemoryBoundKind, double>;
  // x and y of two bytes; backward: dy, x and dx.
  EXPECT_EQ(forward("layers[0].mlp.norm"), Traffic(MemoryBoundKind::layer_norm, (2 + 2) * sbh));
  EXPECT_EQ(backward("layers[0].mlp.norm"), Traffic(MemoryBoundKind::layer_norm, (2 + 2 + 2) * sbh));
  EXPECT_EQ(forward("layers[0].mlp.norm", "seq"), Traffic(MemoryBoundKind::layer_norm, (2 + 2) * sbh / 2));
  EXPECT_EQ(forward("layers[0].mlp.activation", "ffn"), Traffic(MemoryBoundKind::bias_gelu, (2 + 2) * sbh / h * f / 2));
  // Branch, residual, result, and the mask of one byte; backward: dy, mask and the gradient of the branch.
  EXPECT_EQ(forward("layers[0].mlp.add"), Traffic(MemoryBoundKind::dropout_add, (2 + 2 + 2 + 1) * sbh));
  EXPECT_EQ(backward("layers[0].mlp.add"), Traffic(MemoryBoundKind::dropout_add, (2 + 1 + 2) * sbh));
  const double scores = b * a * s * s;
  EXPECT_EQ(forward("layers[0].attention.core.softmax"), Traffic(MemoryBoundKind::softmax, (2 + 2) * scores));
  EXPECT_EQ(backward("layers[0].attention.core.softmax"), Traffic(MemoryBoundKind::softmax, (2 + 2 + 2) * scores));
  // One row of the table read and written for each token, however the vocabulary is split.
  EXPECT_EQ(forward("embedding.word", "vocab"), Traffic(MemoryBoundKind::embedding, (2 + 2) * sbh));
}

TEST_F(Kernels, WithoutDropoutAResidualIsAPlainAdd) {
  config_.dropout = false;
  EXPECT_EQ(forward_kernels(local("layers[0].mlp.add"), cost_).at(0).bytes, (2 + 2 + 2) * sbh);
  EXPECT_TRUE(input_gradient_kernels(local("layers[0].mlp.add"), cost_).empty());
}

TEST_F(Kernels, AGatedUnitReadsTwoAndWritesOne) {
  config_.activation = model::Activation::swiglu;
  const double elements = static_cast<double>(s * b * f);
  // Backward reads dy, gate and up and writes the gradients of both.
  EXPECT_EQ(forward_kernels(local("layers[0].mlp.activation"), cost_).at(0).bytes, (2 + 2 + 2) * elements);
  EXPECT_EQ(input_gradient_kernels(local("layers[0].mlp.activation"), cost_).at(0).bytes, 5 * 2 * elements);
}

TEST_F(Kernels, TrafficFollowsTheTrainingType) {
  const double half = forward_kernels(local("layers[0].mlp.norm"), cost_).at(0).bytes;
  EXPECT_EQ(forward_kernels(local("layers[0].mlp.norm", "", DataType::fp32), cost_).at(0).bytes, 2 * half);
}

TEST_F(Kernels, NamesSayThePass) {
  const LocalOp op = local("layers[0].mlp.fc1");
  EXPECT_EQ(forward_kernels(op, cost_).at(0).kind, "linear");
  EXPECT_EQ(input_gradient_kernels(op, cost_).at(0).kind, "linear.dgrad");
  EXPECT_EQ(weight_gradient_kernels(op, cost_).at(0).kind, "linear.wgrad");
  EXPECT_EQ(weight_gradient_kernels(op, cost_).at(1).kind, "linear.wgrad.bias");
}

}  // namespace
}  // namespace proteus::graph
