// SPDX-License-Identifier: Apache-2.0
#include "convolution_kernels.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "proteus/model/convnet.hpp"

namespace proteus::graph {
namespace {

/// Prices a product at one picosecond for each multiply-add, and memory traffic at one for each byte.
class CountingCost final : public cost::ComputeCost {
 public:
  cost::Cost gemm(const cost::Gemm& gemm) const override {
    first_elements = gemm.first_elements;
    return {Time::picoseconds(gemm.batch * gemm.m * gemm.n * gemm.k), 0, cost::Provenance::fitted};
  }
  cost::Cost attention(const cost::FusedAttention&) const override { return {}; }
  cost::Cost memory_bound(cost::MemoryBoundKind, double bytes) const override {
    return {Time::picoseconds(static_cast<std::int64_t>(bytes)), 0, cost::Provenance::fitted};
  }
  mutable double first_elements = 0;
};

class ConvolutionKernels : public testing::Test {
 protected:
  static constexpr std::int64_t batch = 4;

  ConvolutionKernels() : graph_(model::build_convnet({model::ConvNetArchitecture::resnet50, 224, 1000}, {batch})) {}

  LocalOp local(const std::string& path, const std::string& split = "") const {
    for (const model::Op& op : graph_.ops) {
      if (op.path != path) continue;
      std::vector<std::vector<strategy::Atom>> splits(op.dims.size());
      if (!split.empty()) splits.at(static_cast<std::size_t>(op.dim(split))) = {0};
      strategy::MeshSpec two;
      two.order = {"tp"};
      two.sizes = {{"tp", 2}};
      return {op, splits, strategy::Mesh(two, 2), DataType::fp16, DataType::fp32};
    }
    throw std::out_of_range(path);
  }

  model::Graph graph_;
  CountingCost cost_;
};

// The 3x3 convolution of the first bottleneck of the second stage: 128 channels, 56 to 28 positions.
TEST_F(ConvolutionKernels, EveryPassDoesTheSameProducts) {
  const LocalOp op = local("layers[3].conv2");
  constexpr std::int64_t macs = batch * 28 * 28 * 128 * 128 * 9;
  for (const auto& kernels :
       {forward_kernels(op, cost_), input_gradient_kernels(op, cost_), weight_gradient_kernels(op, cost_)}) {
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].cost.time.ps(), macs);
    EXPECT_EQ(kernels[0].flops, 2.0 * macs);
    EXPECT_EQ(kernels[0].cost.provenance, cost::Provenance::roofline);
  }
}

TEST_F(ConvolutionKernels, ReadTheImageAndNotItsColumns) {
  const LocalOp op = local("layers[3].conv2");
  forward_kernels(op, cost_);
  EXPECT_EQ(cost_.first_elements, batch * 128.0 * 56 * 56);
  input_gradient_kernels(op, cost_);
  EXPECT_EQ(cost_.first_elements, batch * 128.0 * 28 * 28);
  weight_gradient_kernels(op, cost_);
  EXPECT_EQ(cost_.first_elements, batch * 128.0 * 56 * 56);
}

TEST_F(ConvolutionKernels, ASplitHalvesTheProducts) {
  const std::int64_t whole = forward_kernels(local("layers[3].conv2"), cost_)[0].cost.time.ps();
  for (const char* dim : {"batch", "in", "out"}) {
    EXPECT_EQ(forward_kernels(local("layers[3].conv2", dim), cost_)[0].cost.time.ps(), whole / 2) << dim;
  }
}

TEST_F(ConvolutionKernels, NothingIsComputedForTheImages) {
  EXPECT_TRUE(input_gradient_kernels(local("stem.conv"), cost_).empty());
  EXPECT_EQ(weight_gradient_kernels(local("stem.conv"), cost_).size(), 1u);
}

TEST_F(ConvolutionKernels, MemoryBoundKernelsMoveTheirOperands) {
  constexpr std::int64_t stem = batch * 64 * 112 * 112;
  EXPECT_EQ(forward_kernels(local("stem.relu"), cost_)[0].cost.time.ps(), 4 * stem);
  EXPECT_EQ(input_gradient_kernels(local("stem.relu"), cost_)[0].cost.time.ps(), 6 * stem);
  EXPECT_EQ(forward_kernels(local("stem.norm"), cost_)[0].cost.time.ps(), 6 * stem);
  // Pooling 112 to 56 positions: inputs, outputs and their indices.
  EXPECT_EQ(forward_kernels(local("stem.pool"), cost_)[0].cost.time.ps(), 2 * stem + stem / 4 * (2 + 8));
}

}  // namespace
}  // namespace proteus::graph
