// SPDX-License-Identifier: Apache-2.0
#include "lowering.hpp"

#include <algorithm>

namespace proteus::graph {

using strategy::Layout;
using strategy::Role;

LocalOp LoweringContext::local(model::OpId id) const {
  return LocalOp(graph.ops[id], plans[id].split, mesh, input.strategy.type, input.runtime.gradient_type);
}

Layout LoweringContext::produced(model::TensorId tensor) const {
  const model::OpId producer = graph.tensors[tensor].producer;
  const model::Op& op = graph.ops[producer];
  return plans[producer].output(op, op.outputs.front());
}

std::int64_t LoweringContext::local_elements(model::TensorId tensor, const Layout& layout) const {
  return layout.local_elements(graph.tensors[tensor].extents, mesh);
}

bool LoweringContext::recomputed(model::OpId id) const {
  switch (plans[id].recompute) {
    case strategy::Recompute::none:
      return false;
    case strategy::Recompute::full:
      return true;
    case strategy::Recompute::selective:
      // The attention core (Korthikanti et al. 2022, section 5). FlashAttention recomputes in its own backward kernel.
      switch (graph.ops[id].kind) {
        case model::OpKind::attention_scores:
        case model::OpKind::attention_softmax:
        case model::OpKind::attention_dropout:
        case model::OpKind::attention_context:
          return true;
        default:
          return false;
      }
  }
  return false;
}

int LoweringContext::reader_behind(model::TensorId tensor, int chunk) const {
  for (model::OpId reader : readers[tensor]) {
    if (chunk_of[reader] > chunk) return chunk_of[reader];
  }
  return -1;
}

std::vector<ParameterUse> parameters_of(const LoweringContext& context, int chunk) {
  const auto& batch = context.mesh.axis(context.input.strategy.batch_axis);
  std::vector<ParameterUse> uses;
  const auto& ops = context.chunks[static_cast<std::size_t>(chunk)];
  for (auto id = ops.rbegin(); id != ops.rend(); ++id) {
    const strategy::OpPlan& plan = context.plans[*id];
    for (const model::Operand& operand : context.graph.ops[*id].parameters) {
      // A parameter with another user is complete with the later one in backward.
      std::erase_if(uses, [&](const ParameterUse& use) { return use.tensor == operand.tensor; });
      ParameterUse use{operand.tensor, context.local_elements(operand.tensor, plan.input(operand)), {}, {}};
      for (const auto& [atom, reduction] : plan.contribution(operand).partial) {
        const bool replica = std::find(batch.begin(), batch.end(), atom) != batch.end();
        (replica ? use.replicas : use.others).push_back(atom);
      }
      uses.push_back(std::move(use));
    }
  }
  for (int earlier : context.placement.chunks_of(context.placement.stage_of(chunk))) {
    if (earlier >= chunk) break;
    for (model::OpId id : context.chunks[static_cast<std::size_t>(earlier)]) {
      for (const model::Operand& operand : context.graph.ops[id].parameters)
        std::erase_if(uses, [&](const ParameterUse& use) { return use.tensor == operand.tensor; });
    }
  }
  return uses;
}

std::vector<Bucket> buckets_of(const std::vector<ParameterUse>& parameters, double elements, double first) {
  std::vector<Bucket> buckets;
  bool open = false;
  for (const ParameterUse& use : parameters) {
    if (use.replicas.empty()) continue;
    if (!open) buckets.emplace_back();
    buckets.back().parameters.push_back(use.tensor);
    buckets.back().elements += use.elements;
    const double limit = buckets.size() == 1 && first > 0 && elements > 0 ? first : elements;
    open = limit <= 0 || static_cast<double>(buckets.back().elements) < limit;
  }
  return buckets;
}

std::vector<strategy::Atom> optimizer_atoms(const LoweringContext& context, int chunk) {
  for (model::OpId id : context.chunks[static_cast<std::size_t>(chunk)]) {
    if (context.graph.ops[id].parameters.empty()) continue;
    auto found = context.plans[id].store.find("optimizer");
    if (found != context.plans[id].store.end()) return found->second;
  }
  return {};
}

Issue gradient_issue(const LoweringContext& context) {
  return issue_of(context.input.runtime, {Role::gradient, "backward", "", context.schedule_name}, Stream::gradient,
                  context.input.runtime.gradient_type);
}

bool reduces_in_backward(const LoweringContext& context) {
  return context.input.strategy.overlap_gradient_reduction && !gradient_issue(context).after_backward;
}

CollectiveUse gradient_reduction(const LoweringContext& context, const std::vector<strategy::Atom>& replicas,
                                 std::int64_t elements, const Issue& issue) {
  Layout partial(1);
  for (strategy::Atom atom : replicas) partial.partial.emplace_back(atom, strategy::Reduction::sum);
  std::sort(partial.partial.begin(), partial.partial.end());
  Layout target(1);
  const auto sharded = optimizer_atoms(context, 0);
  for (strategy::Atom atom : replicas) {
    if (std::find(sharded.begin(), sharded.end(), atom) != sharded.end()) target.flat.push_back(atom);
  }
  std::sort(target.flat.begin(), target.flat.end());
  const auto steps = strategy::reshard(partial, target, {elements}, context.mesh);
  if (steps.size() != 1) {
    throw InputError(
        context.input.strategy.where, "strategy.tree.store.optimizer",
        "optimizer states sharded over a part of the replicas need two collectives a gradient, which is not "
        "lowered yet",
        "all atoms of the batch axis, or none");
  }
  CollectiveUse use;
  use.family = context.collectives.over(steps.front().atoms, issue.stream);
  use.kind = collective_of(steps.front().kind);
  use.size = Bytes{steps.front().elements * size_of(issue.type)};
  use.type = issue.type;
  use.traffic = Traffic::gradient;
  return use;
}

}  // namespace proteus::graph
