// SPDX-License-Identifier: Apache-2.0
#include "strategy_checks.hpp"

#include <algorithm>

namespace proteus::graph {

void check_stage_axis(const strategy::Strategy& strategy, const strategy::Mesh& mesh) {
  const std::string& axis = strategy.stages.axis;
  const auto& stages = mesh.axis(axis);
  const auto splits_stages = [&](const std::string& name) {
    // Unknown ones are plan()'s to refuse.
    return mesh.has_axis(name) && std::ranges::find_first_of(mesh.axis(name), stages) != mesh.axis(name).end();
  };
  for (std::size_t i = 1; i < stages.size(); ++i) {
    if (stages[i] == stages[i - 1] + 1) continue;
    throw InputError(strategy.stages.where, "strategy.stages.axis",
                     "`" + axis + "` is made of axes that do not follow each other in the mesh",
                     "an axis, or neighbouring ones in their order");
  }
  if (splits_stages(strategy.batch_axis)) {
    throw InputError(strategy.stages.where, "strategy.stages.axis",
                     "`" + axis + "` also is the axis of the replicas, `" + strategy.batch_axis + "`",
                     "an axis of its own");
  }
  const auto refuse = [&](const strategy::Annotation& entry, const std::string& key,
                          const std::vector<std::string>& axes) {
    const auto found = std::ranges::find_if(axes, splits_stages);
    if (found == axes.end()) return;
    throw InputError(entry.where, "strategy.tree." + entry.selector + "." + key,
                     "`" + *found + "` is the axis of the pipeline: its devices hold different layers",
                     "an axis within a stage");
  };
  for (const strategy::Annotation& entry : strategy.tree) {
    for (const auto& [what, axes] : entry.store) refuse(entry, "store." + what, axes);
    if (!entry.split) continue;
    for (const auto& [dim, axes] : *entry.split) refuse(entry, "split." + dim, axes);
  }
}

/// What the tree may say but no lowering does yet is refused rather than ignored.
void check_lowered(const strategy::Strategy& strategy, const strategy::Mesh& mesh,
                   const std::vector<strategy::OpPlan>& plans) {
  for (const strategy::Annotation& entry : strategy.tree) {
    for (const char* what : {"weight", "gradient"}) {
      const auto found = entry.store.find(what);
      if (found == entry.store.end() || found->second.empty()) continue;
      throw InputError(entry.where, "strategy.tree." + entry.selector + ".store." + what,
                       "shards of weights and gradients are not lowered yet", "shards of `optimizer` or `saved` only");
    }
  }
  const auto& replicas = mesh.axis(strategy.batch_axis);
  const auto splits = [&](const strategy::OpPlan& plan) {
    return std::ranges::any_of(
        plan.split, [&](const auto& atoms) { return std::ranges::find_first_of(atoms, replicas) != atoms.end(); });
  };
  if (mesh.axis_size(strategy.batch_axis) > 1 && std::ranges::none_of(plans, splits)) {
    throw InputError(strategy.where, "strategy.batch_axis",
                     "no op is split along " + strategy.batch_axis + ": every replica would compute the whole batch",
                     "a tree that splits `batch` by it");
  }
}

void check_overlap(const LoweringContext& context) {
  const strategy::Strategy& strategy = context.input.strategy;
  if (!strategy.overlap_gradient_reduction || reduces_in_backward(context)) return;
  throw InputError(strategy.where, "strategy",
                   "gradients shall be reduced during the backward pass, but the rules of " +
                       context.input.runtime.name + " reduce gradients behind it",
                   "no overlap, or a runtime whose rule for role gradient has issue_after: ready");
}

void check_chunks(const LoweringContext& context, const strategy::Stages& stages) {
  int last = 0;
  for (model::OpId id = 0; id < context.graph.ops.size(); ++id) {
    if (context.chunk_of[id] < last) {
      throw InputError(stages.where, "strategy.stages.chunks",
                       context.graph.ops[id].path + " comes before what it needs", "chunks in the order of the model");
    }
    last = context.chunk_of[id];
    for (const model::Operand& operand : context.graph.ops[id].inputs) {
      const int made = context.chunk_of[context.graph.tensors[operand.tensor].producer];
      if (context.chunk_of[id] > made + 1) {
        throw InputError(stages.where, "strategy.stages.chunks",
                         context.graph.ops[id].path + " reads what was made more than one chunk before it",
                         "neighbouring chunks");
      }
    }
  }
  for (std::size_t chunk = 0; chunk < context.chunks.size(); ++chunk) {
    if (context.chunks[chunk].empty())
      throw InputError(stages.where, "strategy.stages.chunks", "chunk " + std::to_string(chunk) + " is empty",
                       "at least one op");
  }
}

}  // namespace proteus::graph
