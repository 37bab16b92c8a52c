// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "lowering.hpp"

namespace proteus::graph {
namespace {

using strategy::Role;

/// The end of a step in the order of Megatron-LM's finalize_model_grads and optimizer.step.
class Epilogue {
 public:
  Epilogue(const LoweringContext& context, int stage)
      : context_(context),
        stage_(stage),
        builder_("epilogue", PhaseKind::epilogue, 0, context.input.runtime, context.collectives, context.names),
        chunks_(context.placement.chunks_of(stage)) {
    for (int chunk : chunks_) {
      for (const ParameterUse& use : parameters_of(context, chunk)) elements_ += use.elements;
    }
  }

  Phase build() {
    waits_.push_back(Ready::behind(Stream::gradient, 0));
    const Stream reduced_on = gradient_issue(context_).stream;
    if (reduced_on != Stream::gradient) waits_.push_back(Ready::behind(reduced_on, 0));
    reduce_gradients();
    reduce_replicated();
    reduce_shared();
    optimizer();
    return builder_.finish();
  }

 private:
  /// Each is exposed and follows the one before.
  void communicate(const std::string& name, const CollectiveUse& use, const Issue& how) {
    if (context_.collectives.members(use.family) < 2) return;
    std::vector<Ready> inputs = waits_;
    inputs.push_back(builder_.computed());
    waits_.push_back(builder_.communicate(name, use, how.stream, inputs, how.host_sync));
  }

  Issue issue(Role role, std::string_view collective, Stream stream, DataType type) const {
    return issue_of(context_.input.runtime, {role, "epilogue", collective, context_.schedule_name}, stream, type);
  }

  void reduce_gradients() {
    if (reduces_in_backward(context_)) return;
    const Issue how = gradient_issue(context_);
    for (int chunk : chunks_) {
      const auto parameters = parameters_of(context_, chunk);
      auto first =
          std::find_if(parameters.begin(), parameters.end(), [](const ParameterUse& u) { return !u.replicas.empty(); });
      for (const Bucket& bucket : buckets_of(parameters, 0)) {
        communicate("gradients", gradient_reduction(context_, first->replicas, bucket.elements, how), how);
      }
    }
  }

  /// Gradients of what tensor-parallel devices hold whole but see a part of the sequence of: one coalesced all-reduce.
  void reduce_replicated() {
    std::map<std::vector<strategy::Atom>, std::int64_t> elements;
    for (int chunk : chunks_) {
      for (const ParameterUse& use : parameters_of(context_, chunk)) {
        if (!use.others.empty()) elements[use.others] += use.elements;
      }
    }
    for (const auto& [atoms, count] : elements) {
      const Issue how =
          issue(Role::replicated_gradient, "all-reduce", Stream::tensor, context_.input.runtime.gradient_type);
      communicate("gradients.replicated",
                  all_reduce(context_.collectives.over(atoms, how.stream), count, how.type, Traffic::gradient), how);
    }
  }

  /// A parameter with users on the first and the last stage (tied embeddings): their gradients are summed.
  void reduce_shared() {
    const auto& pipeline = context_.mesh.axis(context_.input.strategy.stages.axis);
    std::map<model::TensorId, std::vector<int>> users;
    for (int chunk = 0; chunk < static_cast<int>(context_.chunks.size()); ++chunk) {
      for (const ParameterUse& use : parameters_of(context_, chunk))
        users[use.tensor].push_back(static_cast<int>(context_.placement.stage_of(chunk)));
    }
    for (const auto& [tensor, stages] : users) {
      if (stages.size() < 2 || stages.front() == stages.back()) continue;
      if (stage_ != stages.front() && stage_ != stages.back()) continue;
      const Issue how =
          issue(Role::shared_gradient, "all-reduce", Stream::gradient, context_.input.runtime.gradient_type);
      std::int64_t elements = 0;
      for (int chunk : chunks_) {
        for (const ParameterUse& use : parameters_of(context_, chunk)) {
          if (use.tensor == tensor) elements = use.elements;
        }
      }
      const std::uint32_t family =
          context_.collectives.between_stages("embedding", pipeline, stages.front(), stages.back());
      communicate("gradients.embedding", all_reduce(family, elements, how.type, Traffic::embedding), how);
    }
  }

  void optimizer() {
    const strategy::Runtime& runtime = context_.input.runtime;
    const auto sharded = optimizer_atoms(context_, chunks_.front());
    std::int64_t shards = 1;
    for (strategy::Atom atom : sharded) shards *= context_.mesh.size(atom);
    const std::int64_t share = (elements_ + shards - 1) / shards;
    const auto local = static_cast<double>(share);

    // Found-inf of dynamic loss scaling comes with fp16 only; the gradient norm always. Both end in a host decision.
    scalar("optimizer.norm", runtime.norm_bytes_per_parameter * local, !sharded.empty());
    if (context_.input.strategy.type == DataType::fp16) scalar("optimizer.found_inf", 0, !sharded.empty());
    kernel("optimizer.step", runtime.optimizer_bytes_per_parameter * local, false);
    if (!sharded.empty()) gather_parameters(sharded);
    // The next step begins by clearing the gradient buffer (Megatron-LM, train_step: zero_grad_buffer).
    kernel("optimizer.zero_grad", size_of(runtime.gradient_type) * static_cast<double>(elements_), false);
  }

  void gather_parameters(const std::vector<strategy::Atom>& sharded) {
    const Issue how = issue(Role::parameter, "all-gather", Stream::gradient, context_.input.strategy.type);
    for (int chunk : chunks_) {
      std::int64_t count = 0;
      for (const ParameterUse& use : parameters_of(context_, chunk)) count += use.elements;
      CollectiveUse gather;
      gather.family = context_.collectives.over(sharded, how.stream);
      gather.kind = cost::Collective::all_gather;
      gather.size = Bytes{count * size_of(how.type)};
      gather.type = how.type;
      gather.traffic = Traffic::parameter;
      communicate("parameters", gather, how);
    }
  }

  void kernel(const std::string& name, double bytes, bool host_sync) {
    const Kernel work{name, context_.input.compute.memory_bound(cost::MemoryBoundKind::optimizer, bytes), 0, bytes};
    builder_.compute(name, work, waits_, host_sync);
    waits_.clear();
  }

  /// A local reduction, then a scalar over all devices that share the step; the host reads the result.
  void scalar(const std::string& name, double bytes, bool whole_world) {
    std::vector<strategy::Atom> atoms;
    const auto& batch = context_.mesh.axis(context_.input.strategy.batch_axis);
    for (strategy::Atom atom = 0; atom < context_.mesh.atoms(); ++atom) {
      if (whole_world || std::find(batch.begin(), batch.end(), atom) == batch.end()) atoms.push_back(atom);
    }
    const Issue how = issue(Role::scalar, "all-reduce", Stream::gradient, DataType::fp32);
    if (bytes > 0) kernel(name, bytes, atoms.empty() && how.host_sync);
    if (!atoms.empty())
      communicate(name, all_reduce(context_.collectives.over(atoms, how.stream), 1, how.type, Traffic::scalar), how);
  }

  static CollectiveUse all_reduce(std::uint32_t family, std::int64_t elements, DataType type, Traffic traffic) {
    CollectiveUse use;
    use.family = family;
    use.kind = cost::Collective::all_reduce;
    use.size = Bytes{elements * size_of(type)};
    use.type = type;
    use.traffic = traffic;
    return use;
  }

  const LoweringContext& context_;
  int stage_;
  PhaseBuilder builder_;
  std::vector<int> chunks_;
  std::int64_t elements_ = 0;  ///< parameters of this stage on one device
  std::vector<Ready> waits_;   ///< what the next op has to wait for
};

}  // namespace

Phase lower_epilogue(const LoweringContext& context, int stage) { return Epilogue(context, stage).build(); }

}  // namespace proteus::graph
