// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "proteus/model/graph.hpp"

namespace proteus::model {

/// torchvision's architectures of these names (torchvision/models/{alexnet,vgg,resnet}.py; VGG without batch norm).
enum class ConvNetArchitecture : std::uint8_t {
  alexnet,
  vgg11,
  vgg13,
  vgg16,
  vgg19,
  resnet18,
  resnet34,
  resnet50,
  resnet101,
  resnet152,
};

/// An image classifier.
struct ConvNetConfig {
  ConvNetArchitecture architecture = ConvNetArchitecture::resnet50;
  std::int64_t image_size = 224;  ///< height and width in pixels, of three channels
  std::int64_t classes = 1000;
};

/// Throws std::invalid_argument where the images are too small for a window.
Graph build_convnet(const ConvNetConfig& config, const GraphOptions& options);
/// Blocks "layers[i]": convolutions with what follows them (AlexNet), those up to a pooling (VGG), residual blocks.
std::int64_t layers_of(const ConvNetConfig& config);

}  // namespace proteus::model
