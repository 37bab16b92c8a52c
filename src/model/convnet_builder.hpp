// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "graph_builder.hpp"

namespace proteus::model {

/// The layers of convolutional networks. Activations are [batch, channels, height, width], behind the features [batch,
/// channels].
class ConvNetBuilder : public GraphBuilder {
 public:
  explicit ConvNetBuilder(const GraphOptions& options);

  struct Window {
    std::int64_t size = 1;
    std::int64_t stride = 1;
    std::int64_t padding = 0;

    /// Throws std::invalid_argument where it does not fit, with the name of the op.
    std::int64_t positions(std::int64_t input, const std::string& path) const;
  };

  /// Of the images: nothing stands in front of it, and nothing is computed for them in backward.
  TensorId first_convolution(const std::string& path, std::int64_t image_size, std::int64_t out, const Window& window,
                             bool bias);
  TensorId convolution(const std::string& path, TensorId x, std::int64_t out, const Window& window, bool bias);
  TensorId batch_norm(const std::string& path, TensorId x);
  TensorId relu(const std::string& path, TensorId x);
  TensorId dropout(const std::string& path, TensorId x);
  TensorId max_pool(const std::string& path, TensorId x, const Window& window);
  TensorId global_average_pool(const std::string& path, TensorId x);
  TensorId sum(const std::string& path, TensorId branch, TensorId x);
  /// Of all channels and positions of `x`.
  TensorId linear(const std::string& path, TensorId x, std::int64_t out);
  void softmax_loss(const std::string& path, TensorId x);

 private:
  TensorId convolution(Op op, std::int64_t in, std::int64_t out, std::int64_t height, std::int64_t width,
                       const Window& window, bool bias);
  /// Along all dims of `x`.
  TensorId elementwise(Op op, TensorId x);
  std::vector<Dim> dims_of(TensorId x) const;

  Dim batch_;
};

}  // namespace proteus::model
