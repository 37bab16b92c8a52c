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

TEST(Tree, RefusesWhatDoesNotDivide) {
  Strategy s = strategy();
  s.mesh.sizes = {{"tp", 2}, {"dp", 3}, {"pp", 1}};
  s.tree = {annotation("layers.*.mlp.fc1", {{"seq", {"dp"}}})};
  EXPECT_THAT(error_of([&] { plan(graph(), s, Mesh(s.mesh, 6)); }),
              AllOf(HasSubstr("layers[0].mlp.fc1.split.seq"), HasSubstr("32 does not divide by 3")));
}

TEST(Tree, RefusesStoresAndImplementationsThatDoNotExist) {
  Annotation entry;
  entry.selector = "layers.*.mlp.fc1";
  entry.store["wieght"] = {"dp"};
  EXPECT_THAT(error_with(entry), HasSubstr("unknown key `wieght`"));
  entry.store.clear();
  entry.store["weight"] = {"replicas"};
  EXPECT_THAT(error_with(entry), HasSubstr("unknown mesh axis `replicas`"));
  entry.store.clear();
  entry.implementation = "ring";
  EXPECT_THAT(error_with(entry), HasSubstr("no implementation `ring`"));
}

TEST(Tree, AMaximumOverASplitVocabularyIsAPartialMaximum) {
  const model::Graph g = graph();
  const Strategy s = strategy();
  const Mesh mesh(s.mesh, 8);
  const auto plans = plan(g, s, mesh);
  const auto partial = [&](const char* path) {
    const model::OpId id = find(g, path);
    return plans[id].output(g.ops[id], g.ops[id].outputs[0]).partial;
  };
  using Partials = std::vector<std::pair<Atom, Reduction>>;
  const Atom tp = mesh.axis("tp").front();
  EXPECT_EQ(partial("head.loss.max"), (Partials{{tp, Reduction::max}}));
  EXPECT_EQ(partial("head.loss.sum_exp"), (Partials{{tp, Reduction::sum}}));
  EXPECT_EQ(partial("embedding.word"), (Partials{{tp, Reduction::sum}}));
}

TEST(Tree, AModuleStandsForAllBelowItAndAnEmptySplitClears) {
  Strategy s = strategy();
  s.tree.push_back(annotation("layers[2]", {}));
  const model::Graph g = graph();
  const auto plans = plan(g, s, Mesh(s.mesh, 8));
  for (const char* path : {"layers[2].attention.qkv", "layers[2].mlp.fc2"}) {
    for (const auto& atoms : plans[find(g, path)].split) EXPECT_TRUE(atoms.empty()) << path;
  }
  EXPECT_FALSE(plans[find(g, "layers[1].mlp.fc2")]
                   .split[static_cast<std::size_t>(g.ops[find(g, "layers[1].mlp.fc2")].dim("in"))]
                   .empty());
}

TEST(Tree, ASharedParameterLiesInOneWay) {
  Strategy s = strategy();
  s.tree.push_back(annotation("head.output", {{"batch", {"dp"}}, {"in", {"tp"}}}));
  const model::Graph g = graph();
  EXPECT_THAT(error_of([&] { plan(g, s, Mesh(s.mesh, 8)); }),
              AllOf(HasSubstr("strategy.tree.head.output.split"), HasSubstr("has embedding.word.weight as [-, /tp]"),
                    HasSubstr("embedding.word has it as [/tp, -]")));
}

}  // namespace
}  // namespace proteus::strategy
