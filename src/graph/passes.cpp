// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "lowering.hpp"

namespace proteus::graph {
namespace {

using strategy::Layout;
using strategy::Reshard;
using strategy::Role;

/// A tensor, or a gradient, as a device has it.
struct Value {
  Layout layout;
  Ready ready;
};

/// Emits the ops of one pass of one chunk.
class Pass {
 public:
  Pass(const LoweringContext& context, int chunk, std::string_view pass, PhaseBuilder& builder)
      : context_(context), chunk_(chunk), pass_(pass), builder_(builder) {}

  void forward() {
    wait_for_sends();
    for (model::TensorId tensor : crossing_from(chunk_ - 1)) receive(tensor, false, false);
    if (chunk_ > 0 && !context_.placement.crosses(chunk_ - 1)) wait_for_reshards();
    for (model::OpId id : ops()) forward_op(id);
    for (model::TensorId tensor : crossing_from(chunk_)) {
      send(tensor, false, values_[tensor].empty() ? builder_.computed() : values_[tensor].front().ready);
    }
  }

  /// Both gradients, or those of the inputs alone.
  void backward(bool weights, bool reduce, bool paired) {
    with_weights_ = weights;
    if (!paired) wait_for_sends();
    for (model::TensorId tensor : crossing_from(chunk_)) receive(tensor, true, paired);
    if (chunk_ + 1 < context_.placement.chunks() && !context_.placement.crosses(chunk_)) wait_for_reshards();
    if (reduce) open_buckets();
    const auto& list = ops();
    for (std::size_t i = list.size(); i-- > 0;) {
      if (context_.recomputed(list[i])) recompute_run_ending_at(i);
      backward_op(list[i]);
    }
    for (model::TensorId tensor : crossing_from(chunk_ - 1)) {
      const Value gradient = combined(tensor);
      send(tensor, true, gradient.ready);
    }
  }

  /// What the pass for the inputs left: the gradients of the results are there, and what it recomputed.
  void weight_gradients(bool reduce) {
    wait_for_reshards();
    if (reduce) open_buckets();
    const auto& list = ops();
    for (auto id = list.rbegin(); id != list.rend(); ++id) weight_gradient(*id);
  }

 private:
  const std::vector<model::OpId>& ops() const { return context_.chunks[static_cast<std::size_t>(chunk_)]; }

  /// Synchronous exchanges: compute goes on when the sends of the phase before are over too.
  void wait_for_sends() {
    if (context_.placement.stages() == 1 || !exchanges_are_synchronous(context_, pass_)) return;
    builder_.before_next(Ready::behind(Stream::forward_send, 0));
    builder_.before_next(Ready::behind(Stream::backward_send, 0));
  }

  /// What a pass before this one left on the same device was perhaps brought to another layout last.
  void wait_for_reshards() { builder_.before_next(Ready::behind(Stream::tensor, 0)); }

  /// As boundary(), where the next chunk is on another stage.
  std::vector<model::TensorId> crossing_from(int from) const {
    if (from < 0 || from + 1 >= context_.placement.chunks() || !context_.placement.crosses(from)) return {};
    return boundary(from);
  }

  /// Activations that chunk `from` leaves to the one behind it.
  std::vector<model::TensorId> boundary(int from) const {
    std::vector<model::TensorId> found;
    for (int chunk = 0; chunk <= from; ++chunk) {
      for (model::OpId id : context_.chunks[static_cast<std::size_t>(chunk)]) {
        const model::TensorId tensor = context_.graph.ops[id].outputs.front().tensor;
        if (context_.reader_behind(tensor, from) >= 0) found.push_back(tensor);
      }
    }
    return found;
  }

  Issue issue(Role role, Reshard::Kind kind, Stream stream, DataType type) const {
    return issue_of(context_.input.runtime, {role, pass_, cost::name_of(collective_of(kind)), context_.schedule_name},
                    stream, type);
  }

  /// Brings a value to another layout.
  Value changed(const Value& from, const Layout& to, const model::Tensor& tensor, Role role, const std::string& name) {
    Value value = from;
    const bool gradient = role == Role::activation_gradient;
    for (const Reshard& step : strategy::reshard(from.layout, to, tensor.extents, context_.mesh)) {
      if (step.kind == Reshard::Kind::slice) continue;  // a view
      const Issue how = issue(role, step.kind, Stream::tensor, tensor.type);
      CollectiveUse use;
      use.family = context_.collectives.over(step.atoms, how.stream);
      use.kind = collective_of(step.kind);
      use.size = Bytes{step.elements * size_of(how.type)};
      use.type = how.type;
      use.traffic = Traffic::tensor;
      value.ready =
          builder_.communicate(name + (gradient ? ".gradient" : ""), use, how.stream, {value.ready}, how.host_sync);
      if (how.wait_next) builder_.before_next(value.ready);
    }
    value.layout = to;
    return value;
  }

  /// The value of `tensor` in layout `want`; it stays available for later users.
  Value needed(model::TensorId tensor, const Layout& want, Role role, const std::string& name) {
    auto& versions = values_[tensor];
    if (versions.empty()) versions.push_back({context_.produced(tensor), Ready{}});  // saved, or from the stage before
    for (const Value& version : versions) {
      if (version.layout == want) return version;
    }
    Value made = changed(versions.front(), want, context_.graph.tensors[tensor], role, name);
    values_[tensor].push_back(made);
    return made;
  }

  void forward_op(model::OpId id) {
    const model::Op& op = context_.graph.ops[id];
    std::vector<Ready> ready;
    for (const model::Operand& operand : op.inputs) {
      ready.push_back(
          needed(operand.tensor, context_.plans[id].input(operand), Role::activation, op.path + ".input").ready);
    }
    Ready done = builder_.computed();
    for (const Kernel& kernel : forward_kernels(context_.local(id), context_.input.compute)) {
      done = builder_.compute(op.path, kernel, ready);
    }
    const model::TensorId out = op.outputs.front().tensor;
    values_[out] = {{context_.produced(out), done}};
  }

  /// Runs the longest run of recomputed ops of one layer that ends at `last` again, unless that has been done.
  void recompute_run_ending_at(std::size_t last) {
    const auto& list = ops();
    if (recomputed_until_ <= last) return;
    std::size_t first = last;
    const int layer = context_.graph.ops[list[last]].layer;
    while (first > 0 && context_.recomputed(list[first - 1]) && context_.graph.ops[list[first - 1]].layer == layer)
      --first;
    for (std::size_t i = first; i <= last; ++i) values_.erase(context_.graph.ops[list[i]].outputs.front().tensor);
    for (std::size_t i = first; i <= last; ++i) forward_op(list[i]);
    recomputed_until_ = first;
  }

  bool wants_gradient(model::TensorId tensor) const {
    const model::Op& producer = context_.graph.ops[context_.graph.tensors[tensor].producer];
    return producer.input_gradient || !producer.parameters.empty();
  }

  /// The sum of all gradients of `tensor` that its readers left.
  Value combined(model::TensorId tensor) {
    auto& parts = gradients_[tensor];
    if (parts.empty()) return {context_.produced(tensor).gradient(), Ready{}};
    while (parts.size() > 1) {
      const Value second = parts.back();
      parts.pop_back();
      const auto elements = static_cast<double>(context_.local_elements(tensor, parts.front().layout));
      parts.front().ready =
          builder_.compute(context_.graph.tensors[tensor].name + ".gradient",
                           accumulation_kernel(elements, size_of(context_.input.strategy.type), context_.input.compute),
                           {parts.front().ready, second.ready});
    }
    return parts.front();
  }

  void contribute(model::OpId id, const Ready& ready) {
    const model::Op& op = context_.graph.ops[id];
    for (const model::Operand& operand : op.inputs) {
      if (!wants_gradient(operand.tensor)) continue;
      const Value raw{context_.plans[id].contribution(operand), ready};
      gradients_[operand.tensor].push_back(changed(raw, context_.produced(operand.tensor).gradient(),
                                                   context_.graph.tensors[operand.tensor], Role::activation_gradient,
                                                   op.path + ".input"));
    }
  }

  /// Gathers again what an op saved as a shard: Megatron's sequence-parallel linears. Issued before the gradient of the
  /// input, which hides it.
  Ready saved_inputs(model::OpId id) {
    const model::Op& op = context_.graph.ops[id];
    Ready ready;
    if (!context_.plans[id].store.contains("saved")) return ready;
    for (int index : op.saved.inputs) {
      const model::Operand& operand = op.inputs[static_cast<std::size_t>(index)];
      const Value shard{context_.produced(operand.tensor), Ready{}};
      // A shard that recomputation has just made is there when the compute stream gets here.
      const Value whole = changed({shard.layout, builder_.computed()}, context_.plans[id].input(operand),
                                  context_.graph.tensors[operand.tensor], Role::saved, op.path + ".saved");
      ready = whole.ready;
    }
    return ready;
  }

  void backward_op(model::OpId id) {
    const model::Op& op = context_.graph.ops[id];
    if (!op.input_gradient && op.parameters.empty()) return;
    const Value gradient = combined(op.outputs.front().tensor);
    const LocalOp local = context_.local(id);
    Ready done = gradient.ready;
    const auto weight_kernels =
        with_weights_ ? weight_gradient_kernels(local, context_.input.compute) : std::vector<Kernel>{};
    const Ready saved = weight_kernels.empty() ? Ready{} : saved_inputs(id);
    for (const Kernel& kernel : input_gradient_kernels(local, context_.input.compute)) {
      done = builder_.compute(op.path, kernel, {gradient.ready});
    }
    if (op.input_gradient) contribute(id, done);
    for (const Kernel& kernel : weight_kernels) done = builder_.compute(op.path, kernel, {gradient.ready, saved});
    if (!with_weights_) return;
    for (const model::Operand& operand : op.parameters) gradient_ready(operand.tensor, id);
  }

  void weight_gradient(model::OpId id) {
    const model::Op& op = context_.graph.ops[id];
    const auto kernels = weight_gradient_kernels(context_.local(id), context_.input.compute);
    const Ready saved = kernels.empty() ? Ready{} : saved_inputs(id);
    for (const Kernel& kernel : kernels) builder_.compute(op.path, kernel, {saved});
    for (const model::Operand& operand : op.parameters) gradient_ready(operand.tensor, id);
  }

  void open_buckets() {
    const auto parameters = parameters_of(context_, chunk_);
    const Issue how = gradient_issue(context_);
    double elements = how.only_first_chunk_buckets && chunk_ != 0 ? 0 : how.bucket_elements;
    std::int64_t members = 1;
    for (const ParameterUse& use : parameters) {
      if (use.replicas.empty()) continue;
      for (strategy::Atom atom : use.replicas) members *= context_.mesh.size(atom);
      replicas_ = use.replicas;
      break;
    }
    if (elements > 0) elements = std::max(elements, how.bucket_elements_per_rank * static_cast<double>(members));
    buckets_ = buckets_of(parameters, elements, how.first_bucket_elements);
  }

  /// A gradient is complete when the first user of the parameter (last in backward) is done.
  void gradient_ready(model::TensorId parameter, model::OpId user) {
    for (model::OpId other : ops()) {
      if (other == user) break;
      const auto& used = context_.graph.ops[other].parameters;
      if (std::any_of(used.begin(), used.end(), [&](const model::Operand& o) { return o.tensor == parameter; })) return;
    }
    for (Bucket& bucket : buckets_) {
      auto found = std::find(bucket.parameters.begin(), bucket.parameters.end(), parameter);
      if (found == bucket.parameters.end()) continue;
      bucket.parameters.erase(found);
      if (!bucket.parameters.empty()) return;
      const Issue how = gradient_issue(context_);
      builder_.communicate("gradients[" + std::to_string(bucket_number_++) + "]",
                           gradient_reduction(context_, replicas_, bucket.elements, how), how.stream,
                           {builder_.computed()}, how.host_sync);
      return;
    }
  }

  // ---- between stages ----

  struct Crossing {
    CollectiveUse use;
    Issue how;
    std::vector<strategy::Atom> gathered;  ///< atoms over which a scattered transfer is put together again
    std::int64_t elements = 0;             ///< of the whole local tensor
  };

  /// The transfer of a boundary tensor or its gradient from one chunk to its neighbour.
  Crossing crossing(model::TensorId tensor, bool backward, bool sending) const {
    // Forward: chunk c to c + 1. A receiver in forward is the later chunk, in backward the earlier one.
    const int earlier = (sending != backward) ? chunk_ : chunk_ - 1;
    const std::int64_t from = context_.placement.stage_of(backward ? earlier + 1 : earlier);
    const std::int64_t to = context_.placement.stage_of(backward ? earlier : earlier + 1);
    Crossing c;
    const Layout layout = context_.produced(tensor).gradient();
    c.elements = context_.local_elements(tensor, layout);
    c.how = issue_of(context_.input.runtime, {Role::pipeline, pass_, "send-receive", context_.schedule_name},
                     sending ? (backward ? Stream::backward_send : Stream::forward_send)
                             : (backward ? Stream::backward_receive : Stream::forward_receive),
                     context_.graph.tensors[tensor].type);
    const auto& pipeline = context_.mesh.axis(context_.input.strategy.stages.axis);
    std::int64_t parts = 1;
    if (c.how.scatter_gather) {
      // What every tensor-parallel device holds whole is sent in slices and gathered over NVLink
      // (Narayanan et al. 2021, section 4.1).
      const auto& batch = context_.mesh.axis(context_.input.strategy.batch_axis);
      for (strategy::Atom atom = 0; atom < context_.mesh.atoms(); ++atom) {
        const bool other = std::find(pipeline.begin(), pipeline.end(), atom) != pipeline.end() ||
                           std::find(batch.begin(), batch.end(), atom) != batch.end() || layout.split_dim(atom) >= 0;
        if (other) continue;
        c.gathered.push_back(atom);
        parts *= context_.mesh.size(atom);
      }
    }
    c.use.family =
        context_.collectives.between_stages(backward ? "pipeline backward" : "pipeline forward", pipeline, from, to);
    c.use.kind = cost::Collective::send_receive;
    c.use.size = Bytes{(c.elements + parts - 1) / parts * size_of(c.how.type)};
    c.use.type = c.how.type;
    c.use.traffic = Traffic::pipeline;
    return c;
  }

  /// `early`: posted with the exchange in front of the phase before.
  void receive(model::TensorId tensor, bool backward, bool early) {
    const Crossing c = crossing(tensor, backward, false);
    const std::string name = context_.graph.tensors[tensor].name + (backward ? ".gradient" : "");
    std::vector<Ready> waits;
    if (c.how.wait_next && !early) {
      waits.push_back(builder_.computed());  // posted together with the send that ended the phase before
    }
    Ready ready =
        builder_.communicate(name + ".receive", c.use, backward ? Stream::backward_receive : Stream::forward_receive,
                             waits, c.how.host_sync);
    if (!c.gathered.empty()) {
      CollectiveUse gather;
      gather.family = context_.collectives.over(c.gathered, Stream::tensor);
      gather.kind = cost::Collective::all_gather;
      gather.size = Bytes{c.elements * size_of(c.how.type)};
      gather.type = c.how.type;
      gather.traffic = Traffic::pipeline;
      ready = builder_.communicate(name + ".gather", gather, Stream::tensor, {ready}, false);
    }
    builder_.before_next(ready);  // the pass is called with its input in hand
    const Layout layout = context_.produced(tensor).gradient();
    (backward ? gradients_ : values_)[tensor] = {{layout, ready}};
  }

  void send(model::TensorId tensor, bool backward, const Ready& ready) {
    const Crossing c = crossing(tensor, backward, true);
    builder_.communicate(context_.graph.tensors[tensor].name + (backward ? ".gradient" : "") + ".send", c.use,
                         backward ? Stream::backward_send : Stream::forward_send, {ready}, false);
  }

  const LoweringContext& context_;
  int chunk_;
  std::string_view pass_;
  PhaseBuilder& builder_;
  std::map<model::TensorId, std::vector<Value>> values_;
  std::map<model::TensorId, std::vector<Value>> gradients_;
  std::vector<Bucket> buckets_;
  std::vector<strategy::Atom> replicas_;
  int bucket_number_ = 0;
  bool with_weights_ = true;
  std::size_t recomputed_until_ = static_cast<std::size_t>(-1);
};

PhaseKind phase_kind(strategy::PassKind kind) {
  switch (kind) {
    case strategy::PassKind::forward:
      return PhaseKind::forward;
    case strategy::PassKind::backward:
      return PhaseKind::backward;
    case strategy::PassKind::input_gradient:
      return PhaseKind::input_gradient;
    case strategy::PassKind::weight_gradient:
      break;
  }
  return PhaseKind::weight_gradient;
}

}  // namespace

bool exchanges_are_synchronous(const LoweringContext& context, std::string_view pass) {
  return issue_of(context.input.runtime, {Role::pipeline, pass, "send-receive", context.schedule_name},
                  Stream::forward_send, context.input.strategy.type)
      .wait_next;
}

Phase lower_pass(const LoweringContext& context, int chunk, strategy::PassKind kind, bool reduce, bool paired) {
  const PhaseKind phase = phase_kind(kind);
  const int local_chunk = static_cast<int>(context.placement.local_of(chunk));
  const std::string name = std::string(name_of(phase)) + (paired ? ".paired" : "") + (reduce ? ".last" : "") + "[" +
                           std::to_string(local_chunk) + "]";
  PhaseBuilder builder(name, phase, local_chunk, context.input.runtime, context.collectives, context.names);
  // Runtime rules know two passes; what makes a gradient is `backward`.
  Pass pass(context, chunk, kind == strategy::PassKind::forward ? "forward" : "backward", builder);
  switch (kind) {
    case strategy::PassKind::forward:
      pass.forward();
      break;
    case strategy::PassKind::backward:
    case strategy::PassKind::input_gradient:
      pass.backward(kind == strategy::PassKind::backward, reduce, paired);
      break;
    case strategy::PassKind::weight_gradient:
      pass.weight_gradients(reduce);
      break;
  }
  return builder.finish();
}

}  // namespace proteus::graph
