// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "graph_builder.hpp"

namespace proteus::model {
namespace {

/// Dims of activations are always [batch, seq, ...].
class TransformerBuilder : private GraphBuilder {
 public:
  TransformerBuilder(const TransformerConfig& config, const GraphOptions& options)
      : GraphBuilder(options.type),
        config_(config),
        options_(options),
        batch_{"batch", options.batch, DimKind::parallel},
        seq_{"seq", config.seq_len, DimKind::parallel} {
    const std::int64_t multiple = options.vocab_multiple;
    vocab_ = (config.vocab + multiple - 1) / multiple * multiple;
  }

  Graph build() && {
    TensorId x = embeddings();
    for (layer_ = 0; layer_ < config_.layers; ++layer_) {
      enter_layer(layer_);
      x = layer(x);
    }
    leave_layers();
    head(x);
    return std::move(*this).take(config_.layers);
  }

 private:
  std::string in_layer(const std::string& name) const { return "layers[" + std::to_string(layer_) + "]." + name; }

  TensorId embeddings() {
    table_ = parameter("embedding.word.weight", {vocab_, config_.hidden});
    Op gather;
    gather.path = "embedding.word";
    gather.kind = OpKind::embedding;
    gather.dims = {batch_, seq_, along("vocab", vocab_, DimKind::sum), along("hidden", config_.hidden)};
    gather.parameters = {{table_, {2, 3}}};
    gather.input_gradient = false;
    TensorId x = add(std::move(gather), {0, 1, 3}, options_.type);
    if (config_.position != PositionEmbedding::learned) return x;

    Op position;
    position.path = "embedding.position";
    position.kind = OpKind::position;
    position.dims = {batch_, seq_, along("hidden", config_.hidden)};
    position.inputs = {{x, {0, 1, 2}}};
    position.parameters = {{parameter("embedding.position.weight", {config_.seq_len, config_.hidden}), {1, 2}}};
    position.has_dropout = config_.dropout;
    position.saved.output_extra_bytes = config_.dropout ? 1 : 0;
    return add(std::move(position), {0, 1, 2}, options_.type);
  }

  TensorId norm(const std::string& path, TensorId x) {
    Op op;
    op.path = path;
    op.kind = config_.normalization == Normalization::layer_norm ? OpKind::layer_norm : OpKind::rms_norm;
    op.dims = {batch_, seq_, along("hidden", config_.hidden, DimKind::opaque)};
    op.inputs = {{x, {0, 1, 2}}};
    op.parameters = {{parameter(path + ".weight", {config_.hidden}), {2}}};
    if (op.kind == OpKind::layer_norm) op.parameters.push_back({parameter(path + ".bias", {config_.hidden}), {2}});
    op.saved.inputs = {0};
    return add(std::move(op), {0, 1, 2}, options_.type);
  }

  /// y[batch, seq, out, width] = x[batch, seq, in] W. `width` keeps what belongs to one unit of `out` together: the
  /// grouped split of a fused QKV projection (out = key/value groups) or of gate and up (width 2).
  TensorId linear(const std::string& path, TensorId x, std::int64_t in, std::int64_t out, std::int64_t width, bool bias,
                  TensorId weight) {
    Op op;
    op.path = path;
    op.kind = OpKind::linear;
    op.dims = {batch_, seq_, along("in", in, DimKind::sum), along("out", out), along("width", width, DimKind::opaque)};
    const bool heads_input = extents(x).size() == 4;
    op.inputs = {{x, heads_input ? std::vector<int>{0, 1, 2, 5} : std::vector<int>{0, 1, 2}}};
    op.dims.push_back(along("in_width", heads_input ? extents(x)[3] : 1, DimKind::opaque));
    op.parameters = {{weight, {2, 3, 4, 5}}};
    if (bias) {
      op.parameters.push_back({parameter(path + ".bias", {out, width}), {3, 4}});
      op.has_bias = true;
    }
    op.saved.inputs = {0};
    return add(std::move(op), width == 1 ? std::vector<int>{0, 1, 3} : std::vector<int>{0, 1, 3, 4}, options_.type);
  }

  TensorId linear(const std::string& path, TensorId x, std::int64_t in, std::int64_t out, std::int64_t width,
                  bool bias) {
    const bool heads_input = extents(x).size() == 4;
    const std::int64_t in_width = heads_input ? extents(x)[3] : 1;
    return linear(path, x, in, out, width, bias, parameter(path + ".weight", {in, out, width, in_width}));
  }

  TensorId residual(const std::string& path, TensorId branch, TensorId x) {
    Op op;
    op.path = path;
    op.kind = OpKind::residual_add;
    op.dims = {batch_, seq_, along("hidden", config_.hidden)};
    op.inputs = {{branch, {0, 1, 2}}, {x, {0, 1, 2}}};
    // The bias of the row-parallel linear in front is added here, behind the reduction (Megatron-LM, skip_bias_add).
    if (config_.bias) op.parameters = {{parameter(path + ".bias", {config_.hidden}), {2}}};
    op.has_dropout = config_.dropout;
    op.backward_kernel = config_.dropout;  // the gradient of a plain add is its own input
    op.saved.output_extra_bytes = config_.dropout ? 1 : 0;
    return add(std::move(op), {0, 1, 2}, options_.type);
  }

  TensorId layer(TensorId x) {
    TensorId a = norm(in_layer("attention.norm"), x);
    const std::int64_t groups = config_.kv_heads;
    const std::int64_t per_group = config_.heads / groups;
    const std::int64_t d = config_.head_dim;
    TensorId qkv = linear(in_layer("attention.qkv"), a, config_.hidden, groups, (per_group + 2) * d, config_.bias);
    if (config_.position == PositionEmbedding::rotary) qkv = rope(qkv, groups, per_group);
    TensorId context =
        config_.attention == AttentionKernel::flash ? flash(qkv, groups, per_group) : unfused(qkv, groups, per_group);
    TensorId y = linear(in_layer("attention.proj"), context, groups, config_.hidden, 1, false);
    x = residual(in_layer("attention.add"), y, x);

    TensorId b = norm(in_layer("mlp.norm"), x);
    const bool gated = config_.activation == Activation::swiglu;
    TensorId f = linear(in_layer("mlp.fc1"), b, config_.hidden, config_.ffn_hidden, gated ? 2 : 1, config_.bias);
    Op act;
    act.path = in_layer("mlp.activation");
    act.kind = gated ? OpKind::swiglu : OpKind::gelu;
    act.dims = {batch_, seq_, along("ffn", config_.ffn_hidden)};
    act.inputs = {{f, {0, 1, 2}}};
    if (gated) {
      act.dims.push_back(along("width", 2, DimKind::opaque));
      act.inputs = {{f, {0, 1, 2, 3}}};
    }
    act.saved.inputs = {0};
    TensorId g = add(std::move(act), {0, 1, 2}, options_.type);
    TensorId z = linear(in_layer("mlp.fc2"), g, config_.ffn_hidden, config_.hidden, 1, false);
    return residual(in_layer("mlp.add"), z, x);
  }

  TensorId rope(TensorId qkv, std::int64_t groups, std::int64_t per_group) {
    Op op;
    op.path = in_layer("attention.rope");
    op.kind = OpKind::rope;
    op.dims = {batch_, seq_, along("heads", groups),
               along("width", (per_group + 2) * config_.head_dim, DimKind::opaque)};
    op.inputs = {{qkv, {0, 1, 2, 3}}};
    return add(std::move(op), {0, 1, 2, 3}, options_.type);
  }

  /// Attention ops: heads are counted in key/value groups of `group` query heads; sequences must be whole.
  Op attention_op(const char* name, OpKind kind, std::int64_t groups, std::int64_t per_group) const {
    Op op;
    op.path = in_layer(std::string("attention.core.") + name);
    op.kind = kind;
    op.dims = {batch_,
               along("query", config_.seq_len, DimKind::opaque),
               along("heads", groups),
               along("group", per_group, DimKind::opaque),
               along("key", config_.seq_len, DimKind::opaque),
               along("head_dim", config_.head_dim, DimKind::opaque)};
    return op;
  }

  /// Operand dims of the fused QKV tensor [batch, seq, heads, width]; `width` is opaque, and so is its op dim.
  static std::vector<int> qkv_dims() { return {0, 1, 2, 5}; }

  TensorId flash(TensorId qkv, std::int64_t groups, std::int64_t per_group) {
    Op op = attention_op("flash", OpKind::flash_attention, groups, per_group);
    op.inputs = {{qkv, qkv_dims()}};
    op.saved.inputs = {0};
    op.saved.output = true;
    op.saved.extra_dims = {0, 1, 2, 3};  // log-sum-exp of every query row, fp32
    op.saved.extra_bytes = 4;
    return context_output(std::move(op));
  }

  TensorId unfused(TensorId qkv, std::int64_t groups, std::int64_t per_group) {
    Op scores = attention_op("scores", OpKind::attention_scores, groups, per_group);
    scores.inputs = {{qkv, qkv_dims()}};
    scores.saved.inputs = {0};
    TensorId s = add(std::move(scores), {0, 1, 2, 3, 4}, options_.type);

    Op softmax = attention_op("softmax", OpKind::attention_softmax, groups, per_group);
    softmax.dims.pop_back();
    softmax.inputs = {{s, {0, 1, 2, 3, 4}}};
    softmax.saved.output = true;
    TensorId p = add(std::move(softmax), {0, 1, 2, 3, 4}, options_.type);

    if (config_.dropout) {
      Op dropout = attention_op("dropout", OpKind::attention_dropout, groups, per_group);
      dropout.dims.pop_back();
      dropout.inputs = {{p, {0, 1, 2, 3, 4}}};
      dropout.has_dropout = true;
      dropout.saved.output_extra_bytes = 1;
      p = add(std::move(dropout), {0, 1, 2, 3, 4}, options_.type);
    }

    Op context = attention_op("context", OpKind::attention_context, groups, per_group);
    context.inputs = {{p, {0, 1, 2, 3, 4}}, {qkv, qkv_dims()}};
    context.saved.inputs = {0, 1};
    return context_output(std::move(context));
  }

  /// [batch, seq, heads, group * head_dim]
  TensorId context_output(Op op) {
    const std::vector<std::int64_t> extents{options_.batch, config_.seq_len, op.dims[2].size,
                                            op.dims[3].size * config_.head_dim};
    return add_shaped(std::move(op), {0, 1, 2, 5}, extents, options_.type);
  }

  void head(TensorId x) {
    TensorId h = norm("head.norm", x);
    const TensorId logits =
        config_.tied_embeddings ? linear_tied(h) : linear("head.output", h, config_.hidden, vocab_, 1, false);
    auto part = [&](const char* name, OpKind kind, DimKind vocab_kind) {
      Op op;
      op.path = std::string("head.loss.") + name;
      op.kind = kind;
      op.dims = {batch_, seq_, along("vocab", vocab_, vocab_kind)};
      op.inputs = {{logits, {0, 1, 2}}};
      op.backward_kernel = false;
      op.input_gradient = false;
      return op;
    };
    TensorId max = add(part("max", OpKind::loss_max, DimKind::max), {0, 1}, DataType::fp32);
    TensorId predicted = add(part("predicted", OpKind::loss_predicted, DimKind::sum), {0, 1}, DataType::fp32);
    Op sum = part("sum_exp", OpKind::loss_sum_exp, DimKind::sum);
    sum.inputs.push_back({max, {0, 1}});
    sum.backward_kernel = true;
    sum.input_gradient = true;
    sum.saved.extra_dims = {0, 1, 2};  // the softmax, kept in fp32
    sum.saved.extra_bytes = 4;
    TensorId total = add(std::move(sum), {0, 1}, DataType::fp32);
    Op loss;
    loss.path = "head.loss.value";
    loss.kind = OpKind::loss_value;
    loss.dims = {batch_, seq_};
    loss.inputs = {{predicted, {0, 1}}, {total, {0, 1}}};
    loss.backward_kernel = false;
    add(std::move(loss), {0, 1}, DataType::fp32);
  }

  /// The head with the word embedding's table: W[vocab, hidden] is read as [out, in].
  TensorId linear_tied(TensorId x) {
    Op op;
    op.path = "head.output";
    op.kind = OpKind::linear;
    op.dims = {batch_, seq_, along("in", config_.hidden, DimKind::sum), along("out", vocab_)};
    op.inputs = {{x, {0, 1, 2}}};
    op.parameters = {{table_, {3, 2}}};
    op.saved.inputs = {0};
    return add(std::move(op), {0, 1, 3}, options_.type);
  }

  const TransformerConfig& config_;
  GraphOptions options_;
  Dim batch_;
  Dim seq_;
  std::int64_t vocab_ = 0;
  std::int64_t layer_ = -1;
  TensorId table_ = 0;
};

}  // namespace

Graph build_transformer(const TransformerConfig& config, const GraphOptions& options) {
  return TransformerBuilder(config, options).build();
}

}  // namespace proteus::model
