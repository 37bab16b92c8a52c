// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/graph/compile_fixture.hpp"

namespace proteus::graph {
namespace {

using testing::HasSubstr;

/// Sizes and times that no 64-bit count holds are errors of the input, whatever they would have become.
class Limits : public Compile {
 protected:
  std::string error() {
    try {
      compile(2);
    } catch (const InputError& problem) {
      return problem.what();
    }
    return "no error";
  }
};

TEST_F(Limits, ElementsAreCounted) {
  model_.seq_len = 1'000'000'000;
  EXPECT_THAT(error(), HasSubstr("model: the tensors of a micro-batch on all replicas"));
}

TEST_F(Limits, MicroBatchesAreCounted) {
  options_.global_batch = 2 * 2 * (std::int64_t{1} << 21);
  EXPECT_THAT(error(), HasSubstr("strategy.global_batch: 2097152 micro-batches"));
}

TEST_F(Limits, OpsOfAPhaseAreCounted) {
  model_.layers = 8192;
  EXPECT_THAT(error(), HasSubstr("has more than 65535 ops"));
}

TEST_F(Limits, ARunEndsBeforeTheClock) {
  model_.layers = 1;
  // 2^19 micro-batches of some 50 us are 26 s an iteration.
  options_.global_batch = 2 * 2 * (std::int64_t{1} << 19);
  const strategy::Strategy strategy = strategy::megatron(options_, 16, model_.layers);
  cluster_.nodes = 2;
  try {
    compile(strategy, 1'000'000);
    FAIL();
  } catch (const InputError& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("simulate: stage 0 computes"));
  }
}

class StageAxis : public Compile {
 protected:
  std::string error(const std::function<void(strategy::Strategy&)>& change) {
    options_.tp = 2;
    options_.pp = 2;
    cluster_.nodes = 1;
    strategy::Strategy strategy = strategy::megatron(options_, cluster_.devices(), model_.layers);
    change(strategy);
    try {
      compile(strategy);
    } catch (const InputError& problem) {
      return problem.what();
    }
    return "no error";
  }
};

TEST_F(StageAxis, SplitsNothingElse) {
  EXPECT_EQ(error([](auto&) {}), "no error");
  EXPECT_THAT(error([](auto& s) { s.stages.axis = "tp"; }), HasSubstr("`tp` is the axis of the pipeline"));
  EXPECT_THAT(error([](auto& s) { s.stages.axis = "dp"; }), HasSubstr("also is the axis of the replicas"));
  EXPECT_THAT(error([](auto& s) { (*s.tree.back().split)["out"] = {"pp"}; }),
              HasSubstr("`pp` is the axis of the pipeline"));
  EXPECT_THAT(error([](auto& s) { s.tree.back().store["optimizer"] = {"pp"}; }),
              HasSubstr("store.optimizer: `pp` is the axis of the pipeline"));
  EXPECT_THAT(error([](auto& s) {
                s.mesh.groups["ends"] = {"tp", "pp"};
                s.stages.axis = "ends";
              }),
              HasSubstr("do not follow each other"));
}

TEST_F(StageAxis, AnOverlapThatTheRuntimeNeverMakesIsRefused) {
  options_.overlap_grad_reduce = true;
  EXPECT_EQ(error([](auto&) {}), "no error");
  strategy::Rule behind;
  behind.match.role = strategy::Role::gradient;
  behind.effect.issue_after = "backward";
  runtime_.rules.push_back(behind);
  EXPECT_THAT(error([](auto&) {}), HasSubstr("reduce gradients behind it"));
}

}  // namespace
}  // namespace proteus::graph
