// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/compile.hpp"

#include <algorithm>
#include <map>

#include "limits.hpp"
#include "lowering.hpp"
#include "memory.hpp"
#include "proteus/graph/planned_model.hpp"
#include "schedule.hpp"
#include "schedule_check.hpp"
#include "strategy_checks.hpp"

namespace proteus::graph {
namespace {

using strategy::SchedulePolicy;

/// Deals ops to global chunks: what stands before the first layer to the first, layers evenly or as the user listed
/// them, what stands behind to the last.
std::vector<std::vector<model::OpId>> deal(const model::Graph& graph, const strategy::Stages& stages,
                                           std::int64_t count) {
  std::vector<std::vector<model::OpId>> chunks(static_cast<std::size_t>(count));
  if (!stages.chunks.empty()) {
    if (static_cast<std::int64_t>(stages.chunks.size()) != count) {
      throw InputError(stages.where, "strategy.stages.chunks", std::to_string(stages.chunks.size()) + " chunks",
                       std::to_string(count) + ", stages times chunks_per_stage");
    }
    std::vector<std::vector<strategy::Selector>> selectors;
    for (const auto& texts : stages.chunks) {
      selectors.emplace_back();
      for (const std::string& text : texts) {
        const strategy::Selector& selector = selectors.back().emplace_back(text, stages.where);
        if (std::ranges::any_of(graph.ops, [&](const model::Op& op) { return selector.matches(op); })) continue;
        throw InputError(stages.where, "strategy.stages.chunks", "`" + text + "` matches nothing in the model",
                         "a path such as layers[0:4]");
      }
    }
    for (model::OpId id = 0; id < graph.ops.size(); ++id) {
      const auto found = std::find_if(selectors.begin(), selectors.end(), [&](const auto& list) {
        return std::any_of(list.begin(), list.end(),
                           [&](const strategy::Selector& s) { return s.matches(graph.ops[id]); });
      });
      if (found == selectors.end()) {
        throw InputError(stages.where, "strategy.stages.chunks", graph.ops[id].path + " is in no chunk",
                         "every op in one");
      }
      chunks[static_cast<std::size_t>(found - selectors.begin())].push_back(id);
    }
    return chunks;
  }
  if (graph.layers < count || (graph.layers % count != 0 && !stages.even)) {
    throw InputError(stages.where, "strategy.stages",
                     std::to_string(graph.layers) + " layers do not divide over " + std::to_string(count) + " chunks",
                     "a number of chunks that divides the layers, assign: even, or stages.chunks");
  }
  // One more for the chunks in the middle, as the ends have embedding and head (Llama 3, arXiv:2407.21783,
  // section 3.3.2).
  std::vector<std::int64_t> chunk_of_layer;
  const std::int64_t more = graph.layers % count, first_with_more = (count - more) / 2;
  for (std::int64_t chunk = 0; chunk < count; ++chunk) {
    const bool middle = chunk >= first_with_more && chunk < first_with_more + more;
    chunk_of_layer.insert(chunk_of_layer.end(), static_cast<std::size_t>(graph.layers / count + (middle ? 1 : 0)),
                          chunk);
  }
  bool behind = false;
  for (model::OpId id = 0; id < graph.ops.size(); ++id) {
    const int layer = graph.ops[id].layer;
    behind = behind || layer >= 0;
    const std::int64_t chunk = layer >= 0 ? chunk_of_layer[static_cast<std::size_t>(layer)] : (behind ? count - 1 : 0);
    chunks[static_cast<std::size_t>(chunk)].push_back(id);
  }
  return chunks;
}

/// Stores equal phases once.
class PhaseTable {
 public:
  explicit PhaseTable(Job& job) : job_(job) {}
  std::uint32_t operator()(Phase phase) {
    auto found = std::find_if(job_.phases.begin(), job_.phases.end(), [&](const Phase& other) {
      return other.name == phase.name && other.ops == phase.ops &&
             other.descriptions.size() == phase.descriptions.size() &&
             std::equal(other.descriptions.begin(), other.descriptions.end(), phase.descriptions.begin());
    });
    if (found == job_.phases.end()) found = job_.phases.insert(found, std::move(phase));
    return static_cast<std::uint32_t>(found - job_.phases.begin());
  }

 private:
  Job& job_;
};

Program program_of_stage(const LoweringContext& context, Job& job, PhaseTable& phases, int stage,
                         const std::vector<Slot>& slots) {
  const bool reduce = reduces_in_backward(context);
  Program program;
  program.name = "stage " + std::to_string(stage);
  const bool synchronous = exchanges_are_synchronous(context, "backward");
  std::map<std::int64_t, const Slot*> complete;  // by chunk: what makes its last weight gradient
  for (const Slot& slot : slots) {
    if (slot.completes_weights()) complete[slot.chunk] = &slot;
  }
  std::map<std::tuple<strategy::PassKind, std::int64_t, bool, bool>, std::uint32_t> numbers;
  for (const Slot& slot : slots) {
    const bool last = reduce && complete[slot.chunk] == &slot;
    const bool paired = slot.paired && synchronous;
    const auto key = std::tuple{slot.kind, slot.chunk, last, paired};
    auto known = numbers.find(key);
    if (known == numbers.end()) {
      const int chunk = static_cast<int>(context.placement.chunk_at(stage, slot.chunk));
      known = numbers.emplace(key, phases(lower_pass(context, chunk, slot.kind, last, paired))).first;
    }
    program.steps.push_back({known->second, static_cast<std::uint32_t>(slot.micro_batch)});
  }
  program.steps.push_back({phases(lower_epilogue(context, stage)), 0});
  check_program_time(job, program);
  program.finish(job.phases);
  return program;
}

void describe(const CompileInput& input, const model::Graph& graph, std::int64_t micro_batches, Job& job) {
  double flops = 0;
  for (const model::Op& op : graph.ops) flops += op.forward_flops();
  // Forward, gradient of the inputs and gradient of the weights (or of the second operand) cost the same each.
  job.model_flops_per_iteration = 3 * flops * static_cast<double>(micro_batches);
  job.samples_per_iteration = input.strategy.global_batch;
  job.tokens_per_iteration = input.strategy.global_batch * input.model.tokens_per_sample();
  auto peak = input.cluster.node.gpu.peak.find(input.strategy.type);
  if (peak == input.cluster.node.gpu.peak.end()) {
    throw InputError(
        input.strategy.where, "strategy.dtype",
        input.cluster.node.gpu.name + " has no peak for " + std::string(proteus::name_of(input.strategy.type)),
        "a type that the GPU computes in");
  }
  job.peak_flops = peak->second;
  for (const std::string& axis : input.strategy.mesh.order)
    job.mesh.emplace_back(axis, input.strategy.mesh.sizes.at(axis));
}

/// Whether the policy can run with this many chunks and micro-batches.
void check_pipeline(const strategy::Strategy& strategy, const Pipeline& pipeline) {
  const auto fail = [&](const std::string& expected) {
    throw InputError(strategy.where, "strategy.schedule",
                     std::string(strategy::name_of(strategy.schedule)) + " with " + std::to_string(pipeline.chunks) +
                         " chunks and " + std::to_string(pipeline.micro_batches) + " micro-batches",
                     expected);
  };
  if (strategy.schedule == SchedulePolicy::listed) return;
  if (strategy.stages.placement == strategy::ChunkPlacement::v) {
    throw InputError(strategy.stages.where, "strategy.stages.placement",
                     "v under the schedule " + std::string(strategy::name_of(strategy.schedule)), "loop, or listed");
  }
  if (strategy.schedule == SchedulePolicy::interleaved_1f1b) {
    if (pipeline.micro_batches % pipeline.stages != 0) fail("micro-batches that are a multiple of the stages");
  } else if (pipeline.chunks != 1) {
    fail("interleaved-1f1b or listed, or one chunk per stage");
  }
}

std::vector<std::vector<Slot>> orders_of(const strategy::Strategy& strategy, const Pipeline& pipeline) {
  std::vector<std::vector<Slot>> orders;
  for (const auto& passes : strategy.order) {
    orders.emplace_back();
    for (const strategy::Pass& pass : passes) orders.back().push_back({pass, false});
  }
  if (strategy.schedule == SchedulePolicy::listed) return orders;
  orders.clear();
  for (std::int64_t stage = 0; stage < pipeline.stages; ++stage)
    orders.push_back(schedule(strategy.schedule, pipeline, stage));
  return orders;
}

Job compile_within_limits(const CompileInput& input) {
  Job job;
  job.devices = input.cluster.devices();
  job.iterations = input.iterations;
  job.island_size = input.cluster.node.gpus;
  const strategy::Strategy& strategy = input.strategy;
  const PlannedModel planned = plan_model(input.model, strategy, input.runtime, job.devices);
  const auto& [mesh, graph, plans, micro_batches] = planned;
  const Pipeline pipeline{mesh.axis_size(strategy.stages.axis), strategy.stages.chunks_per_stage, micro_batches,
                          input.runtime.interleaved_all_forwards_first};
  if (pipeline.stages == 1 && pipeline.chunks > 1) {
    throw InputError(strategy.stages.where, "strategy.stages.chunks_per_stage",
                     std::to_string(pipeline.chunks) + " chunks on one stage", "1, or an axis of several stages");
  }
  check_pipeline(strategy, pipeline);
  if (micro_batches > most_passes / pipeline.chunks) {
    throw InputError(strategy.where, "strategy.global_batch",
                     std::to_string(micro_batches) + " micro-batches through " + std::to_string(pipeline.chunks) +
                         " chunks of a stage in an iteration",
                     "at most " + std::to_string(most_passes) + " passes");
  }
  const Placement placement(strategy.stages.placement, pipeline.stages, pipeline.chunks);
  Collectives collectives(job, mesh, input.cluster, input.communication);
  Names names(job);
  LoweringContext context{input,
                          mesh,
                          graph,
                          plans,
                          deal(graph, strategy.stages, pipeline.stages * pipeline.chunks),
                          std::vector<int>(graph.ops.size()),
                          graph.consumers(),
                          placement,
                          collectives,
                          names,
                          strategy::name_of(strategy.schedule)};
  for (std::size_t chunk = 0; chunk < context.chunks.size(); ++chunk) {
    for (model::OpId id : context.chunks[chunk]) context.chunk_of[id] = static_cast<int>(chunk);
  }
  check_chunks(context, strategy.stages);
  check_overlap(context);

  describe(input, graph, micro_batches, job);
  job.comm_slowdown = 1 + input.runtime.communication_slowdown;
  job.stage_count = pipeline.stages;
  const auto& stage_atoms = mesh.axis(strategy.stages.axis);
  job.stage_stride = stage_atoms.empty() ? job.devices : mesh.stride(stage_atoms.front());
  PhaseTable phases(job);
  const auto slots = orders_of(strategy, pipeline);
  check_schedule(slots, placement, micro_batches,
                 {exchanges_are_synchronous(context, "forward"), exchanges_are_synchronous(context, "backward")},
                 strategy.where);
  for (int stage = 0; stage < static_cast<int>(pipeline.stages); ++stage) {
    Program program = program_of_stage(context, job, phases, stage, slots[static_cast<std::size_t>(stage)]);
    auto same = std::find_if(job.programs.begin(), job.programs.end(),
                             [&](const Program& other) { return other.steps == program.steps; });
    if (same == job.programs.end()) same = job.programs.insert(same, std::move(program));
    job.program_of_stage.push_back(static_cast<std::uint32_t>(same - job.programs.begin()));
  }
  for (std::uint32_t number = 0; number < job.programs.size(); ++number) {
    const auto stage =
        std::find(job.program_of_stage.begin(), job.program_of_stage.end(), number) - job.program_of_stage.begin();
    job.memory.push_back(plan_memory(context, job, static_cast<int>(stage), slots[static_cast<std::size_t>(stage)]));
  }
  return job;
}

}  // namespace

Job compile(const CompileInput& input) {
  try {
    return compile_within_limits(input);
  } catch (const BeyondLimit& beyond) {
    const bool of_model = beyond.section() == "model";
    const SourceLocation& where = of_model ? input.model.where : input.strategy.where;
    throw InputError({where.file, of_model ? where.line : 0, 0}, beyond.section(), beyond.what(), beyond.expected());
  }
}

std::size_t program_bytes(const Job& job) {
  std::size_t bytes = 0;
  for (const Phase& phase : job.phases)
    bytes += phase.ops.size() * (sizeof(ProgramOp) + sizeof(OpDescription) + 2 * sizeof(std::int64_t));
  for (const Program& program : job.programs) bytes += program.steps.size() * (sizeof(Step) + 3 * sizeof(std::int64_t));
  for (const CollectiveUse& use : job.collectives)
    bytes += sizeof(CollectiveUse) + use.cost.size() * sizeof(cost::CollectiveCost);
  bytes += job.families.size() * sizeof(CommunicatorFamily);
  return bytes;
}

}  // namespace proteus::graph
