// SPDX-License-Identifier: Apache-2.0
// Whatever the strategy: the work of the model is done as often as the strategy says and no oftener, what is saved is
// given back, and the job ends. What cannot be compiled is refused with the key that is to blame.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "proteus/base/error.hpp"
#include "proteus/graph/planned_model.hpp"
#include "random_strategy.hpp"
#include "small_job.hpp"

namespace proteus::property {
namespace {

/// Floating-point operations by op, over all devices and one iteration.
using Work = std::map<std::string, double>;

Work work_of(const graph::Job& job) {
  Work work;
  for (std::int64_t device = 0; device < job.devices; ++device) {
    for (const graph::Step& step : job.programs[job.class_of(device)].steps) {
      for (const graph::OpDescription& op : job.phases[step.phase].descriptions) {
        if (op.flops > 0) work[job.names[op.name]] += op.flops;
      }
    }
  }
  return work;
}

/// How often an op's products are computed, counted in its forward ones: an input and a weight gradient cost the same
/// each; fused attention computes 2.5 times its forward work in backward (Dao, arXiv:2307.08691, section 3.1.2).
double passes_of(const model::Op& op, strategy::Recompute recompute) {
  const bool fused = op.kind == model::OpKind::flash_attention;
  const bool core = op.kind == model::OpKind::attention_scores || op.kind == model::OpKind::attention_context;
  const bool again = recompute == strategy::Recompute::full || (recompute == strategy::Recompute::selective && core);
  return (again ? 2 : 1) + (fused ? 2.5 : 2);
}

Work expected(const graph::PlannedModel& planned, std::int64_t stages) {
  Work work;
  for (model::OpId id = 0; id < planned.graph.ops.size(); ++id) {
    const model::Op& op = planned.graph.ops[id];
    // Causal attention skips the half of its products that the mask would drop.
    const double once = op.forward_flops() * (op.kind == model::OpKind::flash_attention ? 0.5 : 1);
    if (once <= 0) continue;
    std::int64_t parts = 1;
    for (const auto& atoms : planned.plans[id].split) {
      for (strategy::Atom atom : atoms) parts *= planned.mesh.size(atom);
    }
    const auto copies = static_cast<double>(planned.mesh.devices() / stages / parts);
    work[op.path] =
        once * copies * passes_of(op, planned.plans[id].recompute) * static_cast<double>(planned.micro_batches);
  }
  return work;
}

/// Elements that go into gradient reductions, over all devices and one iteration.
std::int64_t reduced_elements(const graph::Job& job) {
  std::int64_t sum = 0;
  for (std::int64_t device = 0; device < job.devices; ++device) {
    for (const graph::Step& step : job.programs[job.class_of(device)].steps) {
      for (const graph::ProgramOp& op : job.phases[step.phase].ops) {
        if (op.is_compute()) continue;
        const graph::CollectiveUse& use = job.collectives[op.collective];
        if (use.traffic == graph::Traffic::gradient) sum += use.size.value / size_of(use.type);
      }
    }
  }
  return sum;
}

/// Every device reduces its part of a gradient once over the replicas it is partial over, and once over whatever else.
std::int64_t partial_elements(const graph::PlannedModel& planned, std::int64_t stages) {
  const auto& replicas = planned.mesh.axis("dp");
  const std::int64_t layers_a_stage = planned.graph.layers / stages;
  std::set<std::pair<std::int64_t, model::TensorId>> seen;
  std::int64_t sum = 0;
  bool behind = false;
  for (model::OpId id = 0; id < planned.graph.ops.size(); ++id) {
    const model::Op& op = planned.graph.ops[id];
    behind = behind || op.layer >= 0;
    const std::int64_t stage = op.layer >= 0 ? op.layer / layers_a_stage : (behind ? stages - 1 : 0);
    for (const model::Operand& operand : op.parameters) {
      if (!seen.emplace(stage, operand.tensor).second) continue;
      bool over_replicas = false;
      bool over_others = false;
      for (const auto& [atom, reduction] : planned.plans[id].contribution(operand).partial) {
        (std::ranges::find(replicas, atom) != replicas.end() ? over_replicas : over_others) = true;
      }
      const std::int64_t local =
          planned.plans[id].input(operand).local_elements(planned.graph.tensors[operand.tensor].extents, planned.mesh);
      sum += local * ((over_replicas ? 1 : 0) + (over_others ? 1 : 0)) * (planned.mesh.devices() / stages);
    }
  }
  return sum;
}

class Conservation : public ::testing::TestWithParam<int> {};

constexpr int seeds_a_test = 60;

TEST_P(Conservation, OfWorkAndMemoryUnderAnyStrategy) {
  int compiled = 0;
  for (int i = 0; i < seeds_a_test; ++i) {
    const int seed = GetParam() * seeds_a_test + i;
    const std::string text = random_strategy(static_cast<std::uint64_t>(seed));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    SmallJob job;
    try {
      job.prepared = prepare_text(text);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("strategy."), std::string::npos) << error.what();
      continue;
    }
    ++compiled;
    const io::Experiment& e = job.prepared.experiment;
    const graph::Job& made = job.prepared.job;
    const graph::PlannedModel planned = graph::plan_model(e.model, e.strategy, e.runtime, made.devices);
    EXPECT_EQ(reduced_elements(made), partial_elements(planned, made.stage_count));
    const Work want = expected(planned, made.stage_count);
    const Work found = work_of(made);
    ASSERT_EQ(found.size(), want.size());
    for (const auto& [op, flops] : want) {
      ASSERT_TRUE(found.contains(op)) << op;
      EXPECT_NEAR(found.at(op) / flops, 1, 1e-9) << op;
    }
    for (const graph::MemoryPlan& memory : made.memory) {
      const Bytes kept =
          memory.parameters + memory.gradients + memory.optimizer + memory.context + memory.communication;
      EXPECT_EQ(memory.after_step.back(), kept.value);
    }
    const Outcome outcome = run(job, {});
    EXPECT_FALSE(outcome.twice);
    if (HasFailure()) break;
  }
  // The generator makes strategies that fit often enough to say something.
  EXPECT_GT(compiled, seeds_a_test / 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Conservation, ::testing::Range(0, 10));

}  // namespace
}  // namespace proteus::property
