// SPDX-License-Identifier: Apache-2.0
#include "proteus/model/convnet.hpp"

#include <array>
#include <vector>

#include "convnet_builder.hpp"

namespace proteus::model {
namespace {

using Window = ConvNetBuilder::Window;

std::string in_layer(std::int64_t layer, const std::string& name) {
  return "layers[" + std::to_string(layer) + "]." + name;
}

/// Krizhevsky: One weird trick for parallelizing convolutional neural networks, arXiv:1404.5997, as torchvision has it.
Graph alexnet(const ConvNetConfig& config, const GraphOptions& options) {
  ConvNetBuilder b(options);
  struct Stage {
    std::int64_t out;
    Window window;
    bool pool;
  };
  const std::array<Stage, 5> stages{{{64, {11, 4, 2}, true},
                                     {192, {5, 1, 2}, true},
                                     {384, {3, 1, 1}, false},
                                     {256, {3, 1, 1}, false},
                                     {256, {3, 1, 1}, true}}};
  TensorId x = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    b.enter_layer(layer);
    x = i == 0 ? b.first_convolution(in_layer(layer, "conv"), config.image_size, stages[i].out, stages[i].window, true)
               : b.convolution(in_layer(layer, "conv"), x, stages[i].out, stages[i].window, true);
    x = b.relu(in_layer(layer, "relu"), x);
    if (stages[i].pool) x = b.max_pool(in_layer(layer, "pool"), x, {3, 2, 0});
  }
  b.leave_layers();
  constexpr std::int64_t hidden = 4096;
  x = b.linear("head.fc1", b.dropout("head.dropout1", x), hidden);
  x = b.relu("head.relu1", x);
  x = b.linear("head.fc2", b.dropout("head.dropout2", x), hidden);
  x = b.relu("head.relu2", x);
  b.softmax_loss("head.loss", b.linear("head.fc3", x, config.classes));
  return std::move(b).take(static_cast<std::int64_t>(stages.size()));
}

/// Simonyan, Zisserman: Very Deep Convolutional Networks, arXiv:1409.1556, table 1.
Graph vgg(const ConvNetConfig& config, const GraphOptions& options, const std::array<int, 5>& convolutions) {
  ConvNetBuilder b(options);
  TensorId x = 0;
  std::int64_t width = 64;
  constexpr std::int64_t widest = 512;
  for (std::size_t i = 0; i < convolutions.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    b.enter_layer(layer);
    for (int c = 0; c < convolutions[i]; ++c) {
      const std::string number = std::to_string(c + 1);
      const std::string path = in_layer(layer, "conv" + number);
      x = i == 0 && c == 0 ? b.first_convolution(path, config.image_size, width, {3, 1, 1}, true)
                           : b.convolution(path, x, width, {3, 1, 1}, true);
      x = b.relu(in_layer(layer, "relu" + number), x);
    }
    x = b.max_pool(in_layer(layer, "pool"), x, {2, 2, 0});
    width = std::min(2 * width, widest);
  }
  b.leave_layers();
  constexpr std::int64_t hidden = 4096;
  x = b.dropout("head.dropout1", b.relu("head.relu1", b.linear("head.fc1", x, hidden)));
  x = b.dropout("head.dropout2", b.relu("head.relu2", b.linear("head.fc2", x, hidden)));
  b.softmax_loss("head.loss", b.linear("head.fc3", x, config.classes));
  return std::move(b).take(static_cast<std::int64_t>(convolutions.size()));
}

/// He et al.: Deep Residual Learning for Image Recognition, arXiv:1512.03385, table 1; strides of bottlenecks at the
/// 3x3 convolution (v1.5), as in torchvision.
class ResNet {
 public:
  ResNet(const ConvNetConfig& config, const GraphOptions& options, std::array<int, 4> blocks, bool bottleneck)
      : config_(config), blocks_(blocks), bottleneck_(bottleneck), b_(options) {}

  Graph build() && {
    constexpr std::int64_t stem = 64;
    TensorId x = b_.first_convolution("stem.conv", config_.image_size, stem, {7, 2, 3}, false);
    x = b_.relu("stem.relu", b_.batch_norm("stem.norm", x));
    x = b_.max_pool("stem.pool", x, {3, 2, 1});
    std::int64_t layer = 0;
    std::int64_t width = stem;
    for (std::size_t stage = 0; stage < blocks_.size(); ++stage, width *= 2) {
      for (int block = 0; block < blocks_[stage]; ++block, ++layer) {
        b_.enter_layer(layer);
        x = residual_block(layer, x, width, stage > 0 && block == 0 ? 2 : 1);
      }
    }
    b_.leave_layers();
    x = b_.global_average_pool("head.pool", x);
    b_.softmax_loss("head.loss", b_.linear("head.fc", x, config_.classes));
    return std::move(b_).take(layer);
  }

 private:
  TensorId normalized(std::int64_t layer, const std::string& name, TensorId x, std::int64_t out, const Window& window) {
    x = b_.convolution(in_layer(layer, "conv" + name), x, out, window, false);
    return b_.batch_norm(in_layer(layer, "norm" + name), x);
  }

  TensorId residual_block(std::int64_t layer, TensorId x, std::int64_t width, std::int64_t stride) {
    const std::int64_t out = bottleneck_ ? 4 * width : width;
    const auto relu = [&](const char* name, TensorId y) { return b_.relu(in_layer(layer, name), y); };
    TensorId y = x;
    if (bottleneck_) {
      y = relu("relu1", normalized(layer, "1", y, width, {1, 1, 0}));
      y = relu("relu2", normalized(layer, "2", y, width, {3, stride, 1}));
      y = normalized(layer, "3", y, out, {1, 1, 0});
    } else {
      y = relu("relu1", normalized(layer, "1", y, width, {3, stride, 1}));
      y = normalized(layer, "2", y, out, {3, 1, 1});
    }
    if (b_.extents(x) != b_.extents(y)) x = normalized(layer, "_downsample", x, out, {1, stride, 0});
    return relu("relu", b_.sum(in_layer(layer, "add"), y, x));
  }

  const ConvNetConfig& config_;
  std::array<int, 4> blocks_;
  bool bottleneck_;
  ConvNetBuilder b_;
};

}  // namespace

Graph build_convnet(const ConvNetConfig& config, const GraphOptions& options) {
  switch (config.architecture) {
    case ConvNetArchitecture::alexnet:
      return alexnet(config, options);
    case ConvNetArchitecture::vgg11:
      return vgg(config, options, {1, 1, 2, 2, 2});
    case ConvNetArchitecture::vgg13:
      return vgg(config, options, {2, 2, 2, 2, 2});
    case ConvNetArchitecture::vgg16:
      return vgg(config, options, {2, 2, 3, 3, 3});
    case ConvNetArchitecture::vgg19:
      return vgg(config, options, {2, 2, 4, 4, 4});
    case ConvNetArchitecture::resnet18:
      return ResNet(config, options, {2, 2, 2, 2}, false).build();
    case ConvNetArchitecture::resnet34:
      return ResNet(config, options, {3, 4, 6, 3}, false).build();
    case ConvNetArchitecture::resnet50:
      return ResNet(config, options, {3, 4, 6, 3}, true).build();
    case ConvNetArchitecture::resnet101:
      return ResNet(config, options, {3, 4, 23, 3}, true).build();
    case ConvNetArchitecture::resnet152:
      return ResNet(config, options, {3, 8, 36, 3}, true).build();
  }
  return {};
}

std::int64_t layers_of(const ConvNetConfig& config) { return build_convnet(config, {}).layers; }

}  // namespace proteus::model
