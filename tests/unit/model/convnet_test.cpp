// SPDX-License-Identifier: Apache-2.0
#include "proteus/model/convnet.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proteus::model {
namespace {

using Architecture = ConvNetArchitecture;

/// Parameters and multiply-adds of an image, as torchvision publishes them (`num_params` and `_ops` of the weights in
/// torchvision/models/{alexnet,vgg,resnet}.py).
struct Published {
  const char* name;
  Architecture architecture;
  std::int64_t parameters;
  double giga_macs;
  std::int64_t layers;
};

class ConvNet : public testing::TestWithParam<Published> {};

TEST_P(ConvNet, HasThePublishedParametersAndOperations) {
  const Published& published = GetParam();
  const Graph graph = build_convnet({published.architecture, 224, 1000}, {});
  std::int64_t parameters = 0;
  for (const Tensor& tensor : graph.tensors) parameters += tensor.parameter ? tensor.elements() : 0;
  EXPECT_EQ(parameters, published.parameters);
  double flops = 0;
  for (const Op& op : graph.ops) flops += op.forward_flops();
  EXPECT_NEAR(flops / 2e9 / published.giga_macs, 1, 0.001);
  EXPECT_EQ(graph.layers, published.layers);
}

INSTANTIATE_TEST_SUITE_P(Torchvision, ConvNet,
                         testing::Values(Published{"alexnet", Architecture::alexnet, 61'100'840, 0.714, 5},
                                         Published{"vgg11", Architecture::vgg11, 132'863'336, 7.609, 5},
                                         Published{"vgg13", Architecture::vgg13, 133'047'848, 11.308, 5},
                                         Published{"vgg16", Architecture::vgg16, 138'357'544, 15.470, 5},
                                         Published{"vgg19", Architecture::vgg19, 143'667'240, 19.632, 5},
                                         Published{"resnet18", Architecture::resnet18, 11'689'512, 1.814, 8},
                                         Published{"resnet34", Architecture::resnet34, 21'797'672, 3.664, 16},
                                         Published{"resnet50", Architecture::resnet50, 25'557'032, 4.089, 16},
                                         Published{"resnet101", Architecture::resnet101, 44'549'160, 7.801, 33},
                                         Published{"resnet152", Architecture::resnet152, 60'192'808, 11.514, 50}),
                         [](const auto& published) { return std::string(published.param.name); });

TEST(ConvNets, ImagesMustBeLargerThanTheWindows) {
  EXPECT_THROW(build_convnet({Architecture::alexnet, 30, 10}, {}), std::invalid_argument);
  EXPECT_NO_THROW(build_convnet({Architecture::resnet18, 32, 10}, {}));
}

}  // namespace
}  // namespace proteus::model
