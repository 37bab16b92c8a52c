// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "limits.hpp"

namespace proteus::graph {
namespace {

/// What one micro-batch of one chunk keeps between its forward and its backward, and needs while it runs.
struct ChunkMemory {
  std::int64_t saved = 0;
  std::int64_t forward_temporaries = 0;
  std::int64_t backward_temporaries = 0;
  std::int64_t kept_for_weights = 0;    ///< behind the pass for the inputs alone, until that for the weights
  std::string forward_op, backward_op;  ///< where the temporaries are largest
  std::vector<std::pair<std::string, std::int64_t>> tensors;  ///< saved tensors
};

class ChunkScan {
 public:
  ChunkScan(const LoweringContext& context, int chunk)
      : context_(context), ops_(context.chunks[static_cast<std::size_t>(chunk)]) {}

  ChunkMemory run() {
    ChunkMemory memory;
    collect(
        memory, [&](std::size_t i) { return !context_.recomputed(ops_[i]); }, true);
    for (const auto& [name, bytes] : memory.tensors) memory.saved += bytes;

    std::int64_t run_saved = 0;  // of the recomputed run that the op belongs to
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (!context_.recomputed(ops_[i])) {
        run_saved = 0;
      } else if (i == 0 || !context_.recomputed(ops_[i - 1]) || layer(i - 1) != layer(i)) {
        run_saved = saved_by_run(i);
      }
      const std::int64_t operands = operand_bytes(ops_[i]);
      if (operands > memory.forward_temporaries) {
        memory.forward_temporaries = operands;
        memory.forward_op = context_.graph.ops[ops_[i]].path;
      }
      // Gradients of the results and of the inputs stand beside what recomputation brought back.
      const std::int64_t backward = operands + run_saved;
      if (backward > memory.backward_temporaries) {
        memory.backward_temporaries = backward;
        memory.backward_op = context_.graph.ops[ops_[i]].path;
      }
    }
    memory.kept_for_weights = kept_for_weights();
    return memory;
  }

 private:
  /// Inputs of the ops that make weight gradients, and the gradients of their results (Qi et al. 2024, table 2: 32 sbh
  /// for a layer). A bias in front of a residual add takes the gradient that the linear in front of it keeps.
  std::int64_t kept_for_weights() const {
    std::set<model::TensorId> inputs, results;
    std::int64_t total = 0;
    for (model::OpId id : ops_) {
      const model::Op& op = context_.graph.ops[id];
      if (op.kind == model::OpKind::residual_add) continue;
      if (weight_gradient_kernels(context_.local(id), context_.input.compute).empty()) continue;
      const strategy::OpPlan& plan = context_.plans[id];
      for (int index : op.saved.inputs) {
        const model::Operand& operand = op.inputs[static_cast<std::size_t>(index)];
        if (!inputs.insert(operand.tensor).second) continue;
        total += bytes(operand.tensor,
                       plan.store.contains("saved") ? context_.produced(operand.tensor) : plan.input(operand));
      }
      const model::TensorId out = op.outputs.front().tensor;
      if (results.insert(out).second) total += bytes(out, context_.produced(out).gradient());
    }
    return total;
  }

  int layer(std::size_t i) const { return context_.graph.ops[ops_[i]].layer; }

  std::int64_t bytes(model::TensorId tensor, const strategy::Layout& layout) const {
    return context_.local_elements(tensor, layout) * size_of(context_.graph.tensors[tensor].type);
  }

  /// Saved tensors of the ops for which `keeps(i)`, and what recomputed runs read from outside.
  template <typename Keeps>
  void collect(ChunkMemory& memory, Keeps keeps, bool run_inputs) const {
    std::set<model::TensorId> seen;
    std::map<model::TensorId, std::size_t> made;  // op number of the producer in this chunk
    for (std::size_t i = 0; i < ops_.size(); ++i) made[context_.graph.ops[ops_[i]].outputs.front().tensor] = i;
    const auto save = [&](model::TensorId tensor, const strategy::Layout& layout) {
      if (seen.insert(tensor).second)
        memory.tensors.emplace_back(context_.graph.tensors[tensor].name, bytes(tensor, layout));
    };
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const model::Op& op = context_.graph.ops[ops_[i]];
      const strategy::OpPlan& plan = context_.plans[ops_[i]];
      if (keeps(i)) {
        for (int index : op.saved.inputs) {
          const model::Operand& operand = op.inputs[static_cast<std::size_t>(index)];
          save(operand.tensor, plan.store.contains("saved") ? context_.produced(operand.tensor) : plan.input(operand));
        }
        const model::TensorId out = op.outputs.front().tensor;
        const strategy::Layout made_layout = context_.produced(out).gradient();
        if (op.saved.output) save(out, made_layout);
        if (op.saved.output_extra_bytes > 0) {
          memory.tensors.emplace_back(op.path + ".mask",
                                      std::llround(op.saved.output_extra_bytes *
                                                   static_cast<double>(context_.local_elements(out, made_layout))));
        }
        if (op.saved.extra_bytes > 0) memory.tensors.emplace_back(op.path + ".extra", extra_bytes(ops_[i]));
      } else if (run_inputs) {
        for (const model::Operand& operand : op.inputs) {
          auto producer = made.find(operand.tensor);
          const bool inside = producer != made.end() && context_.recomputed(ops_[producer->second]) &&
                              layer(producer->second) == layer(i);
          if (!inside) save(operand.tensor, context_.produced(operand.tensor).gradient());
        }
      }
    }
  }

  std::int64_t extra_bytes(model::OpId id) const {
    const model::Op& op = context_.graph.ops[id];
    const LocalOp local = context_.local(id);
    double elements = op.saved.extra_bytes;
    for (int dim : op.saved.extra_dims) elements *= static_cast<double>(local.dims[static_cast<std::size_t>(dim)]);
    return std::llround(elements);
  }

  /// What the recomputed run that begins at `first` saves when it runs again.
  std::int64_t saved_by_run(std::size_t first) const {
    ChunkMemory run;
    collect(
        run, [&](std::size_t i) { return i >= first && context_.recomputed(ops_[i]) && layer(i) == layer(first); },
        false);
    std::int64_t total = 0;
    for (const auto& [name, size] : run.tensors) total += size;
    return total;
  }

  std::int64_t operand_bytes(model::OpId id) const {
    const model::Op& op = context_.graph.ops[id];
    std::int64_t total = 0;
    for (const model::Operand& operand : op.inputs) total += bytes(operand.tensor, context_.plans[id].input(operand));
    for (const model::Operand& operand : op.outputs)
      total += bytes(operand.tensor, context_.plans[id].output(op, operand));
    return total;
  }

  const LoweringContext& context_;
  const std::vector<model::OpId>& ops_;
};

/// Buffers of NCCL on one device: for each communicator, channels times connected peers of (4 + 4.7 + 0.5) MiB
/// (buffer sizes of the Simple, LL128 and LL protocols; NCCL src/include/comm.h and tuning).
Bytes nccl_buffers(const Job& job, int stage) {
  constexpr double per_channel_and_peer = (4 + 4.7 + 0.5) * 1024 * 1024;
  std::map<std::uint32_t, double> by_family;
  const std::int64_t device = stage * job.stage_stride;
  for (const CollectiveUse& use : job.collectives) {
    if (!job.families[use.family].locate(device)) continue;
    for (const auto& [placement, price] : use.cost) {
      double& most = by_family[use.family];
      most = std::max(most, per_channel_and_peer * price.channels);
    }
  }
  double total = 0;
  for (const auto& [family, bytes] : by_family) total += bytes;
  return Bytes{std::llround(total)};
}

}  // namespace

MemoryPlan plan_memory(const LoweringContext& context, const Job& job, int stage, const std::vector<Slot>& slots) {
  const strategy::Runtime& runtime = context.input.runtime;
  MemoryPlan plan;
  std::vector<ChunkMemory> chunks;
  std::int64_t parameters = 0;
  std::int64_t shards = 1;
  for (int chunk : context.placement.chunks_of(stage)) {
    chunks.push_back(ChunkScan(context, chunk).run());
    for (const ParameterUse& use : parameters_of(context, chunk)) parameters += use.elements;
    shards = 1;
    for (strategy::Atom atom : optimizer_atoms(context, chunk)) shards *= context.mesh.size(atom);
  }
  plan.parameters = Bytes{parameters * size_of(context.input.strategy.type)};
  plan.gradients = Bytes{parameters * size_of(runtime.gradient_type)};
  const std::int64_t share = (parameters + shards - 1) / shards;
  plan.optimizer = Bytes{std::llround(runtime.state_bytes_per_parameter * static_cast<double>(share))};
  plan.context = runtime.context_bytes;
  plan.communication = nccl_buffers(job, stage);
  const std::int64_t fixed =
      (plan.parameters + plan.gradients + plan.optimizer + plan.context + plan.communication).value;

  check_bytes(fixed, "what a device keeps");
  std::int64_t saved = 0;
  std::vector<std::int64_t> alive(chunks.size(), 0);  // micro-batches of each chunk between forward and backward
  std::vector<std::int64_t> alive_at_peak = alive;
  const auto peak = [&](std::int64_t activations, std::int64_t temporaries, const char* phase, const Slot& slot,
                        const std::string& op) {
    if (fixed + activations + temporaries <= plan.peak.value) return;
    plan.peak = Bytes{fixed + activations + temporaries};
    plan.activations = Bytes{activations};
    plan.temporaries = Bytes{temporaries};
    plan.peak_phase =
        std::string(phase) + "[" + std::to_string(slot.chunk) + "] of micro-batch " + std::to_string(slot.micro_batch);
    plan.peak_op = op;
    alive_at_peak = alive;
  };
  plan.peak = Bytes{fixed};
  for (const Slot& slot : slots) {
    const auto index = static_cast<std::size_t>(slot.chunk);
    const ChunkMemory& chunk = chunks[index];
    if (slot.forward()) {
      saved += chunk.saved;
      check_bytes(saved, "what micro-batches save");
      ++alive[index];
      peak(saved, chunk.forward_temporaries, "forward", slot, chunk.forward_op);
    } else if (slot.weights_only()) {
      saved -= chunk.kept_for_weights;
    } else {
      const bool whole = slot.completes_weights();
      peak(saved, chunk.backward_temporaries, whole ? "backward" : "input-gradient", slot, chunk.backward_op);
      saved -= chunk.saved;
      --alive[index];
      if (!whole) saved += chunk.kept_for_weights;
      peak(saved, 0, whole ? "backward" : "input-gradient", slot, chunk.backward_op);
    }
    plan.after_step.push_back(fixed + saved);
  }
  plan.after_step.push_back(fixed + saved);  // the epilogue

  plan.largest = {{"optimizer states", plan.optimizer}, {"gradients", plan.gradients}, {"parameters", plan.parameters}};
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    for (const auto& [name, size] : chunks[i].tensors) {
      if (alive_at_peak[i] > 0)
        plan.largest.emplace_back(name + " x " + std::to_string(alive_at_peak[i]), Bytes{size * alive_at_peak[i]});
    }
  }
  std::stable_sort(plan.largest.begin(), plan.largest.end(),
                   [](const auto& a, const auto& b) { return b.second < a.second; });
  constexpr std::size_t listed = 8;
  plan.largest.resize(std::min(listed, plan.largest.size()));
  return plan;
}

}  // namespace proteus::graph
