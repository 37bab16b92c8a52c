// SPDX-License-Identifier: Apache-2.0
#include "convnet_builder.hpp"

#include <numeric>
#include <stdexcept>

namespace proteus::model {
namespace {

constexpr std::int64_t image_channels = 3;

Op op_of(const std::string& path, OpKind kind) {
  Op op;
  op.path = path;
  op.kind = kind;
  return op;
}

}  // namespace

std::int64_t ConvNetBuilder::Window::positions(std::int64_t input, const std::string& path) const {
  const std::int64_t room = input + 2 * padding - size;
  if (room < 0) throw std::invalid_argument("the image is too small for " + path);
  return room / stride + 1;
}

ConvNetBuilder::ConvNetBuilder(const GraphOptions& options)
    : GraphBuilder(options.type), batch_{"batch", options.batch, DimKind::parallel} {}

TensorId ConvNetBuilder::convolution(Op op, std::int64_t in, std::int64_t out, std::int64_t height, std::int64_t width,
                                     const Window& window, bool bias) {
  const std::int64_t rows = window.positions(height, op.path);
  const std::int64_t columns = window.positions(width, op.path);
  op.kind = OpKind::conv2d;
  op.stride = window.stride;
  // Height and width cannot be split: neighbours' borders are not exchanged.
  op.dims = {batch_,
             along("in", in, DimKind::sum),
             along("out", out),
             along("height", rows, DimKind::opaque),
             along("width", columns, DimKind::opaque),
             along("kernel_height", window.size, DimKind::opaque),
             along("kernel_width", window.size, DimKind::opaque)};
  op.parameters = {{parameter(op.path + ".weight", {out, in, window.size, window.size}), {2, 1, 5, 6}}};
  if (bias) op.parameters.push_back({parameter(op.path + ".bias", {out}), {2}});
  op.has_bias = bias;
  return add(std::move(op), {0, 2, 3, 4});
}

TensorId ConvNetBuilder::first_convolution(const std::string& path, std::int64_t image_size, std::int64_t out,
                                           const Window& window, bool bias) {
  Op op = op_of(path, OpKind::conv2d);
  op.input_gradient = false;
  return convolution(std::move(op), image_channels, out, image_size, image_size, window, bias);
}

TensorId ConvNetBuilder::convolution(const std::string& path, TensorId x, std::int64_t out, const Window& window,
                                     bool bias) {
  Op op = op_of(path, OpKind::conv2d);
  op.inputs = {{x, {0, 1, 3, 4}}};
  op.saved.inputs = {0};
  const std::vector<std::int64_t> size = extents(x);
  return convolution(std::move(op), size[1], out, size[2], size[3], window, bias);
}

std::vector<Dim> ConvNetBuilder::dims_of(TensorId x) const {
  const std::vector<std::int64_t>& size = extents(x);
  std::vector<Dim> dims{batch_, along("channels", size[1])};
  if (size.size() == 4) {
    dims.push_back(along("height", size[2], DimKind::opaque));
    dims.push_back(along("width", size[3], DimKind::opaque));
  }
  return dims;
}

TensorId ConvNetBuilder::elementwise(Op op, TensorId x) {
  op.dims = dims_of(x);
  std::vector<int> all(op.dims.size());
  std::iota(all.begin(), all.end(), 0);
  op.inputs.insert(op.inputs.begin(), {x, all});
  return add(std::move(op), all);
}

TensorId ConvNetBuilder::batch_norm(const std::string& path, TensorId x) {
  Op op = op_of(path, OpKind::batch_norm);
  const std::int64_t channels = extents(x)[1];
  op.parameters = {{parameter(path + ".weight", {channels}), {1}}, {parameter(path + ".bias", {channels}), {1}}};
  op.saved.inputs = {0};
  return elementwise(std::move(op), x);
}

TensorId ConvNetBuilder::relu(const std::string& path, TensorId x) {
  Op op = op_of(path, OpKind::relu);
  op.saved.output = true;
  return elementwise(std::move(op), x);
}

TensorId ConvNetBuilder::dropout(const std::string& path, TensorId x) {
  Op op = op_of(path, OpKind::dropout);
  op.has_dropout = true;
  op.saved.output_extra_bytes = 1;
  return elementwise(std::move(op), x);
}

TensorId ConvNetBuilder::sum(const std::string& path, TensorId branch, TensorId x) {
  Op op = op_of(path, OpKind::residual_add);
  op.backward_kernel = false;  // the gradient of a plain add is its own input
  op.inputs = {{x, {0, 1, 2, 3}}};
  return elementwise(std::move(op), branch);
}

TensorId ConvNetBuilder::max_pool(const std::string& path, TensorId x, const Window& window) {
  Op op = op_of(path, OpKind::max_pool);
  op.dims = dims_of(x);
  op.dims[2].size = window.positions(op.dims[2].size, path);
  op.dims[3].size = window.positions(op.dims[3].size, path);
  op.stride = window.stride;
  op.inputs = {{x, {0, 1, 2, 3}}};
  constexpr double index_bytes = 8;
  op.saved.output_extra_bytes = index_bytes;
  return add(std::move(op), {0, 1, 2, 3});
}

TensorId ConvNetBuilder::global_average_pool(const std::string& path, TensorId x) {
  Op op = op_of(path, OpKind::global_average_pool);
  op.dims = dims_of(x);
  op.inputs = {{x, {0, 1, 2, 3}}};
  return add(std::move(op), {0, 1});
}

TensorId ConvNetBuilder::linear(const std::string& path, TensorId x, std::int64_t out) {
  const std::vector<std::int64_t> size = extents(x);
  Op op = op_of(path, OpKind::linear);
  op.dims = {batch_, along("in", size[1], DimKind::sum), along("out", out)};
  std::vector<std::int64_t> weight{out, size[1]};
  std::vector<int> weight_dims{2, 1};
  op.inputs = {{x, {0, 1}}};
  if (size.size() == 4) {
    op.dims.push_back(along("in_height", size[2], DimKind::opaque));
    op.dims.push_back(along("in_width", size[3], DimKind::opaque));
    op.inputs = {{x, {0, 1, 3, 4}}};
    weight.insert(weight.end(), {size[2], size[3]});
    weight_dims.insert(weight_dims.end(), {3, 4});
  }
  op.parameters = {{parameter(path + ".weight", weight), weight_dims}, {parameter(path + ".bias", {out}), {2}}};
  op.has_bias = true;
  op.saved.inputs = {0};
  return add(std::move(op), {0, 2});
}

void ConvNetBuilder::softmax_loss(const std::string& path, TensorId x) {
  Op op = op_of(path, OpKind::softmax_loss);
  op.dims = {batch_, along("classes", extents(x)[1], DimKind::opaque)};
  op.inputs = {{x, {0, 1}}};
  op.saved.extra_dims = {0, 1};  // the probabilities, in fp32
  op.saved.extra_bytes = 4;
  add(std::move(op), {0}, DataType::fp32);
}

}  // namespace proteus::model
