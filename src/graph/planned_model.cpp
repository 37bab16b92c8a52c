// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/planned_model.hpp"

#include <utility>

#include "limits.hpp"
#include "strategy_checks.hpp"

namespace proteus::graph {
namespace {

/// The vocabulary is padded so that it divides over the axes that split it (Megatron-LM: a multiple of 128 * tp).
std::int64_t vocab_multiple(const strategy::Strategy& strategy, const strategy::Runtime& runtime,
                            const strategy::Mesh& mesh) {
  std::int64_t parts = 1;
  for (const strategy::Annotation& entry : strategy.tree) {
    if (!entry.split || !entry.split->contains("vocab")) continue;
    parts = 1;
    for (const std::string& axis : entry.split->at("vocab")) {
      if (mesh.has_axis(axis)) parts *= mesh.axis_size(axis);
    }
  }
  return runtime.vocab_multiple * parts;
}

}  // namespace

PlannedModel plan_model(const model::Model& model, const strategy::Strategy& strategy, const strategy::Runtime& runtime,
                        std::int64_t devices) {
  strategy::Mesh mesh(strategy.mesh, devices);
  for (const std::string& axis : {strategy.stages.axis, strategy.batch_axis}) {
    if (!mesh.has_axis(axis))
      throw InputError(strategy.where, "strategy.mesh", "no axis `" + axis + "`",
                       "an axis for stages (stages.axis) and one for replicas (batch_axis)");
  }
  const std::int64_t replicas = mesh.axis_size(strategy.batch_axis);
  if (strategy.global_batch < 1 || strategy.global_batch % (strategy.micro_batch * replicas) != 0) {
    throw InputError(strategy.where, "strategy.global_batch",
                     std::to_string(strategy.global_batch) + " does not divide by micro_batch * " +
                         strategy.batch_axis + " = " + std::to_string(strategy.micro_batch * replicas),
                     "a multiple of it");
  }
  const std::int64_t micro_batches = strategy.global_batch / (strategy.micro_batch * replicas);
  model::Graph graph =
      model.build({strategy.micro_batch * replicas, vocab_multiple(strategy, runtime, mesh), strategy.type});
  check_elements(graph);
  check_stage_axis(strategy, mesh);
  auto plans = strategy::plan(graph, strategy, mesh);
  check_lowered(strategy, mesh, plans);
  return {std::move(mesh), std::move(graph), std::move(plans), micro_batches};
}

}  // namespace proteus::graph
