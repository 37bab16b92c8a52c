// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "proteus/strategy/strategy.hpp"

namespace proteus::strategy {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t devices = 8;
constexpr std::int64_t layers = 4;

MegatronOptions options() {
  MegatronOptions o;
  o.tp = 2;
  o.global_batch = 32;
  return o;
}

TEST(Megatron, EveryErrorNamesItsKey) {
  const auto error = [](const std::function<void(MegatronOptions&)>& change) -> std::string {
    MegatronOptions o = options();
    change(o);
    try {
      megatron(o, devices, layers);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error([](auto& o) { o.tp = 0; }), HasSubstr("strategy.tp"));
  EXPECT_THAT(error([](auto& o) { o.pp = -1; }), HasSubstr("strategy.pp"));
  EXPECT_THAT(error([](auto& o) { o.vpp = 0; }), HasSubstr("strategy.vpp"));
  EXPECT_THAT(error([](auto& o) { o.micro_batch = 0; }), HasSubstr("strategy.micro_batch"));
  EXPECT_THAT(error([](auto& o) { o.global_batch = 0; }), HasSubstr("strategy.global_batch"));
  EXPECT_THAT(error([](auto& o) { o.tp = 3; }), HasSubstr("strategy.tp"));
  EXPECT_THAT(error([](auto& o) { o.tp = 1, o.pp = 3; }), HasSubstr("strategy.pp"));
  EXPECT_THAT(error([](auto& o) { o.dp = 8; }), AllOf(HasSubstr("strategy.dp"), HasSubstr("dp = 4")));
  EXPECT_THAT(error([](auto& o) { o.global_batch = 6; }), HasSubstr("strategy.global_batch"));
  EXPECT_THAT(error([](auto& o) { o.tp = 1, o.pp = 8; }), AllOf(HasSubstr("strategy.pp"), HasSubstr("4 layers")));
  EXPECT_THAT(error([](auto& o) { o.vpp = 2; }), AllOf(HasSubstr("strategy.vpp"), HasSubstr("needs a pipeline")));
  // Two replicas and 3 micro-batches do not fill groups of two stages.
  EXPECT_THAT(error([](auto& o) { o.pp = 2, o.vpp = 2, o.global_batch = 6; }),
              AllOf(HasSubstr("strategy.global_batch"), HasSubstr("multiple of pp")));
  EXPECT_THAT(error([](auto& o) { o.tp = 1, o.sequence_parallel = true; }), HasSubstr("strategy.sequence_parallel"));
  EXPECT_EQ(error([](auto&) {}), "no error");
}

TEST(Megatron, EndsCanCountAsLayers) {
  MegatronOptions o = options();
  o.pp = 2;
  o.vpp = 3;
  o.account_for_embedding_in_pipeline_split = o.account_for_loss_in_pipeline_split = true;
  const auto chunks = megatron(o, devices, 4).stages.chunks;  // 4 layers and both ends on 6 chunks
  using Chunk = std::vector<std::string>;
  ASSERT_EQ(chunks.size(), 6u);
  EXPECT_EQ(chunks.front(), Chunk{"embedding"});
  EXPECT_EQ(chunks[1], Chunk{"layers[0:1]"});
  EXPECT_EQ(chunks[4], Chunk{"layers[3:4]"});
  EXPECT_EQ(chunks.back(), Chunk{"head"});
  o.vpp = 1;
  EXPECT_EQ(megatron(o, devices, 4).stages.chunks,
            (std::vector<Chunk>{{"embedding", "layers[0:2]"}, {"layers[2:4]", "head"}}));
  o.account_for_loss_in_pipeline_split = false;
  EXPECT_THROW(megatron(o, devices, 4), InputError);  // 5 places on 2 stages
}

TEST(Megatron, ErrorsPointAtTheKeyOfTheFile) {
  MegatronOptions o = options();
  o.tp = 3;
  o.where = {"job.yaml", 4, 1};
  o.key_where["tp"] = {"job.yaml", 6, 3};
  EXPECT_THAT([&] { megatron(o, devices, layers); }, testing::ThrowsMessage<InputError>(HasSubstr("job.yaml:6")));
}

TEST(Megatron, RanksAreNumberedTensorThenDataThenPipeline) {
  MegatronOptions o = options();
  o.pp = 2;
  const Strategy s = megatron(o, devices, layers);
  EXPECT_EQ(s.mesh.order, (std::vector<std::string>{"tp", "dp", "pp"}));  // Narayanan et al. 2021, section 3
  EXPECT_EQ(s.mesh.sizes, (std::map<std::string, std::int64_t>{{"tp", 2}, {"dp", 2}, {"pp", 2}}));
  EXPECT_EQ(s.schedule, SchedulePolicy::one_f_one_b);
  EXPECT_EQ(s.stages.axis, "pp");
  o.vpp = 2;
  EXPECT_EQ(megatron(o, devices, layers).schedule, SchedulePolicy::interleaved_1f1b);
  EXPECT_EQ(megatron(o, devices, layers).stages.chunks_per_stage, 2);
}

TEST(Megatron, FlagsBecomeAnnotations) {
  const auto stored = [](const Strategy& s, const std::string& what) {
    return std::count_if(s.tree.begin(), s.tree.end(), [&](const Annotation& a) { return a.store.contains(what); });
  };
  const auto recomputing = [](const Strategy& s) {
    return std::count_if(s.tree.begin(), s.tree.end(), [](const Annotation& a) { return a.recompute.has_value(); });
  };
  MegatronOptions o = options();
  const Strategy plain = megatron(o, devices, layers);
  EXPECT_EQ(stored(plain, "saved") + stored(plain, "optimizer") + recomputing(plain), 0);

  o.sequence_parallel = o.distributed_optimizer = true;
  o.recompute = Recompute::selective;
  const Strategy all = megatron(o, devices, layers);
  EXPECT_EQ(stored(all, "saved"), 3);  // the column-parallel linears: qkv, fc1 and the head
  EXPECT_EQ(stored(all, "optimizer"), 1);
  EXPECT_EQ(recomputing(all), 1);
}

TEST(Megatron, TheUsersEntriesComeLast) {
  MegatronOptions o = options();
  o.distributed_optimizer = true;
  o.tree.resize(1);
  o.tree[0].selector = "layers[0]";
  const Strategy s = megatron(o, devices, layers);
  EXPECT_EQ(s.tree.back().selector, "layers[0]");
}

}  // namespace
}  // namespace proteus::strategy
