// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/graph/compile_fixture.hpp"

namespace proteus::graph {
namespace {

using Chunks = std::vector<std::vector<std::string>>;

/// Two stages whose modules the user deals.
class UserStages : public Compile {
 protected:
  Job dealt(const Chunks& chunks) {
    options_.tp = 4;
    options_.pp = 2;
    cluster_.nodes = 1;
    strategy::Strategy strategy = strategy::megatron(options_, cluster_.devices(), model_.layers);
    strategy.stages.chunks = chunks;
    return compile(strategy);
  }

  std::string error_of(const Chunks& chunks) {
    try {
      dealt(chunks);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  /// Layers whose ops the forward pass of `stage` runs.
  static std::set<std::string> layers(const Job& job, std::int64_t stage) {
    std::set<std::string> found;
    const Phase& phase = phase_of(job, stage, "forward[0]");
    for (std::size_t i = 0; i < phase.ops.size(); ++i) {
      const std::string& name = job.names[phase.descriptions[i].name];
      if (phase.ops[i].is_compute() && name.starts_with("layers[")) found.insert(name.substr(7, name.find(']') - 7));
    }
    return found;
  }
};

TEST_F(UserStages, LayersAreDealtEvenlyUnlessTheUserSaysOtherwise) {
  EXPECT_EQ(layers(dealt({}), 0), (std::set<std::string>{"0", "1", "2", "3"}));
  const Job job = dealt({{"embedding", "layers[0:3]"}, {"layers[3:]", "head"}});
  EXPECT_EQ(layers(job, 0), (std::set<std::string>{"0", "1", "2"}));
  EXPECT_EQ(layers(job, 1), (std::set<std::string>{"3", "4", "5", "6", "7"}));
}

TEST_F(UserStages, DealsThatCannotRunAreRefused) {
  using testing::HasSubstr;
  EXPECT_THAT(error_of({{"**"}}), HasSubstr("1 chunks"));
  EXPECT_THAT(error_of({{"embedding", "layers[0:3]"}, {"layers[4:]", "head"}}),
              HasSubstr("layers[3].attention.norm is in no chunk"));
  EXPECT_THAT(error_of({{"layers", "head"}, {"embedding"}}), HasSubstr("comes before what it needs"));
  EXPECT_THAT(error_of({{"**"}, {"head"}}), HasSubstr("chunk 1 is empty"));
}

TEST_F(UserStages, LayersThatDoNotDivideNeedADeal) {
  options_.tp = 1;
  options_.pp = 8;
  cluster_.nodes = 1;
  strategy::Strategy strategy = strategy::megatron(options_, 8, 8);
  model_.layers = 9;
  EXPECT_THROW(compile(strategy), InputError);
  strategy.stages.chunks = {{"embedding", "layers[0:2]"}};
  for (int layer = 2; layer < 8; ++layer) strategy.stages.chunks.push_back({"layers." + std::to_string(layer)});
  strategy.stages.chunks.push_back({"layers[8]", "head"});
  EXPECT_EQ(compile(strategy).programs.size(), 8u);
}

TEST_F(UserStages, AResidualMayCrossAStageBorder) {
  // The border inside a layer: the branch and the residual both go to the next stage, and both gradients come back.
  const Job job = dealt({{"embedding", "layers[0:4]", "layers[4].attention"}, {"layers[4:]", "head"}});
  EXPECT_EQ(count(job, phase_of(job, 0, "forward[0]"), Traffic::pipeline),
            (std::map<cost::Collective, int>{{cost::Collective::send_receive, 1}}));
  const Job inside =
      dealt({{"embedding", "layers[0:4]", "layers[4].attention", "layers[4].mlp.norm"}, {"layers[4:]", "head"}});
  for (const char* name : {"forward[0]", "backward[0]"}) {
    for (std::int64_t stage : {0, 1}) {
      EXPECT_EQ(count(inside, phase_of(inside, stage, name), Traffic::pipeline),
                (std::map<cost::Collective, int>{{cost::Collective::send_receive, 2}}))
          << name << stage;
    }
  }
}

TEST_F(UserStages, LayersThatDoNotDivideGoToTheMiddle) {
  // Llama 3 405B: 126 layers on 16 stages, one less at either end (arXiv:2407.21783, section 3.3.2).
  model_.layers = 126;
  options_.tp = 1;
  options_.pp = 16;
  cluster_.nodes = 2;
  strategy::Strategy strategy = strategy::megatron(options_, 16, 128);
  EXPECT_THROW(compile(strategy), InputError);
  strategy.stages.even = true;
  const Job job = compile(strategy);
  for (std::int64_t stage = 0; stage < 16; ++stage) {
    EXPECT_EQ(layers(job, stage).size(), stage == 0 || stage == 15 ? 7u : 8u) << stage;
  }
}

TEST_F(UserStages, PassesForInputsAndWeightsDoWhatOneBackwardDoes) {
  options_.tp = 4;
  options_.pp = 2;
  cluster_.nodes = 1;
  strategy::Strategy strategy = strategy::megatron(options_, cluster_.devices(), model_.layers);
  const auto work = [](const Job& job, std::initializer_list<const char*> phases) {
    double flops = 0;
    for (const char* name : phases) {
      for (const OpDescription& op : phase_of(job, 0, name).descriptions) flops += op.flops;
    }
    return flops;
  };
  const Job fused = compile(strategy);
  strategy.schedule = strategy::SchedulePolicy::zb_h1;
  const Job apart = compile(strategy);
  EXPECT_EQ(work(apart, {"input-gradient[0]", "weight-gradient[0]"}), work(fused, {"backward[0]"}));
  EXPECT_GT(work(apart, {"weight-gradient[0]"}), 0);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    const MemoryPlan& memory = apart.memory[apart.program_of_stage[stage]];
    EXPECT_EQ(memory.after_step.back(), fused.memory[fused.program_of_stage[stage]].after_step.back());
  }
}

}  // namespace
}  // namespace proteus::graph
