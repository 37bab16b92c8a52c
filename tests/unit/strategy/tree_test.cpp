// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace proteus::strategy {
namespace {

using testing::AllOf;
using testing::HasSubstr;

model::Graph graph() {
  model::TransformerConfig config;
  config.layers = 4;
  config.hidden = 64;
  config.heads = config.kv_heads = 8;
  config.head_dim = 8;
  config.ffn_hidden = 256;
  config.vocab = 512;
  config.seq_len = 32;
  model::GraphOptions options;
  options.batch = 8;
  return model::build_transformer(config, options);
}

MegatronOptions options() {
  MegatronOptions o;
  o.tp = 2;
  o.global_batch = 32;
  return o;
}

Strategy strategy(bool sequence_parallel = false) {
  MegatronOptions o = options();
  o.sequence_parallel = sequence_parallel;
  return megatron(o, 8, 4);
}

Annotation annotation(const std::string& selector, std::map<std::string, std::vector<std::string>> split) {
  Annotation entry;
  entry.selector = selector;
  entry.split = std::move(split);
  return entry;
}

model::OpId find(const model::Graph& g, const std::string& path) {
  for (model::OpId id = 0; id < g.ops.size(); ++id) {
    if (g.ops[id].path == path) return id;
  }
  throw std::out_of_range(path);
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_with(Annotation entry) {
  Strategy s = strategy();
  s.tree.push_back(std::move(entry));
  return error_of([&] { plan(graph(), s, Mesh(s.mesh, 8)); });
}

TEST(Selector, Wildcards) {
  const model::Graph g = graph();
  const auto count = [&](const std::string& text) {
    const Selector selector(text, {});
    return std::count_if(g.ops.begin(), g.ops.end(), [&](const model::Op& op) { return selector.matches(op); });
  };
  EXPECT_EQ(count("layers.*.attention.qkv"), 4);
  EXPECT_EQ(count("layers[1].attention.qkv"), 1);
  EXPECT_EQ(count("layers[0:3].attention.qkv"), 3);
  EXPECT_EQ(count("layers[0:4:2].attention.qkv"), 2);
  EXPECT_EQ(count("layers[1:].mlp.fc*"), 6);
  EXPECT_EQ(count("**.norm"), 9);           // two a layer, one in the head
  EXPECT_EQ(count("layers.*:linear"), 16);  // qkv, proj, fc1, fc2
  EXPECT_EQ(count("**"), static_cast<long>(g.ops.size()));
  EXPECT_EQ(count("embedding"), 2);  // a module stands for what is below it
  EXPECT_THROW(Selector("layers[a:b]", {}), InputError);
  EXPECT_THROW(Selector("**:convolution", {}), InputError);
}

TEST(Tree, ASplitReductionMakesAPartialSum) {
  const model::Graph g = graph();
  const Strategy s = strategy();
  const Mesh mesh(s.mesh, 8);
  const auto plans = plan(g, s, mesh);
  const Atom tp = mesh.axis("tp").front(), dp = mesh.axis("dp").front();

  const model::OpId qkv = find(g, "layers[1].attention.qkv"), proj = find(g, "layers[1].attention.proj");
  const Layout qkv_out = plans[qkv].output(g.ops[qkv], g.ops[qkv].outputs[0]);
  EXPECT_EQ(qkv_out.split[2], std::vector<Atom>{tp});
  EXPECT_TRUE(qkv_out.partial.empty());
  const Layout proj_out = plans[proj].output(g.ops[proj], g.ops[proj].outputs[0]);
  EXPECT_TRUE(proj_out.is_partial(tp));
  EXPECT_FALSE(proj_out.is_partial(dp));
  // Backward: the gradient of what a column-parallel linear read is partial over tp, that of its weight over dp.
  EXPECT_TRUE(plans[qkv].contribution(g.ops[qkv].inputs[0]).is_partial(tp));
  const Layout weight = plans[qkv].contribution(g.ops[qkv].parameters[0]);
  EXPECT_TRUE(weight.is_partial(dp));
  EXPECT_FALSE(weight.is_partial(tp));
}

TEST(Tree, SequenceParallelNormsHavePartialGradientsOverTheTensorAxis) {
  const model::Graph g = graph();
  for (bool parallel : {false, true}) {
    const Strategy s = strategy(parallel);
    const Mesh mesh(s.mesh, 8);
    const auto plans = plan(g, s, mesh);
    for (const char* path : {"layers[0].mlp.norm", "layers[0].mlp.add"}) {
      const model::OpId id = find(g, path);
      EXPECT_EQ(plans[id].contribution(g.ops[id].parameters[0]).is_partial(mesh.axis("tp").front()), parallel) << path;
    }
  }
}

TEST(Tree, OpsWithoutAnnotationFollowTheirInputs) {
  const model::Graph g = graph();
  const Strategy s = strategy();
  const Mesh mesh(s.mesh, 8);
  const auto plans = plan(g, s, mesh);
  const model::OpId flash = find(g, "layers[0].attention.core.flash"), gelu = find(g, "layers[0].mlp.activation");
  EXPECT_EQ(plans[flash].split[static_cast<std::size_t>(g.ops[flash].dim("heads"))], mesh.axis("tp"));
  EXPECT_EQ(plans[gelu].split[static_cast<std::size_t>(g.ops[gelu].dim("ffn"))], mesh.axis("tp"));
}

TEST(Tree, LaterEntriesWinKeyByKey) {
  Strategy s = strategy();
  Annotation recompute;
  recompute.selector = "layers[0:2]";
  recompute.recompute = Recompute::full;
  s.tree.push_back(recompute);
  s.tree.push_back(annotation("layers[1].mlp.fc1", {{"batch", {"dp"}}}));
  const model::Graph g = graph();
  const auto plans = plan(g, s, Mesh(s.mesh, 8));
  const model::OpId fc1 = find(g, "layers[1].mlp.fc1");
  EXPECT_EQ(plans[fc1].recompute, Recompute::full);
  EXPECT_TRUE(plans[fc1].split[static_cast<std::size_t>(g.ops[fc1].dim("out"))].empty());
  EXPECT_EQ(plans[find(g, "layers[2].mlp.fc1")].recompute, Recompute::none);
}

TEST(Tree, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(error_with(annotation("layers.*.attention.kqv", {{"out", {"tp"}}})), HasSubstr("matches nothing"));
  EXPECT_THAT(error_with(annotation("layers.*.mlp.fc1", {{"output", {"tp"}}})), HasSubstr("no selected op has a dim"));
  EXPECT_THAT(error_with(annotation("layers.*.mlp.fc1", {{"out", {"ep"}}})), HasSubstr("unknown mesh axis `ep`"));
  EXPECT_THAT(error_with(annotation("layers.*.mlp.fc1", {{"in", {"tp"}}, {"out", {"tp"}}})), HasSubstr("already"));
  EXPECT_THAT(error_with(annotation("layers.*.mlp.norm", {{"hidden", {"tp"}}})), HasSubstr("cannot be split"));
  // The branch is split along the sequence, the residual is not: both ends are named.
  Strategy s = strategy();
  s.tree = {annotation("embedding.*", {{"batch", {"dp"}}}), annotation("layers.*.attention.proj", {{"seq", {"dp"}}})};
  EXPECT_THAT(error_of([&] { plan(graph(), s, Mesh(s.mesh, 8)); }),
              AllOf(HasSubstr("layers[0].attention.proj"), HasSubstr("embedding.position")));
}

TEST(Megatron, DegreesMustFit) {
  const auto error = [](const std::function<void(MegatronOptions&)>& change) {
    MegatronOptions o = options();
    change(o);
    return error_of([&] { megatron(o, 8, 4); });
  };
  EXPECT_THAT(error([](auto& o) { o.tp = 3; }), HasSubstr("strategy.tp"));
  EXPECT_THAT(error([](auto& o) { o.dp = 8; }), AllOf(HasSubstr("strategy.dp"), HasSubstr("dp = 4")));
  EXPECT_THAT(error([](auto& o) { o.global_batch = 6; }), HasSubstr("strategy.global_batch"));
  EXPECT_THAT(error([](auto& o) { o.tp = 1, o.pp = 8; }), HasSubstr("4 layers"));
  EXPECT_THAT(error([](auto& o) { o.vpp = 2; }), HasSubstr("needs a pipeline"));
  EXPECT_THAT(error([](auto& o) { o.tp = 1, o.sequence_parallel = true; }), HasSubstr("sequence_parallel"));
  EXPECT_EQ(error([](auto&) {}), "no error");
}

}  // namespace
}  // namespace proteus::strategy
