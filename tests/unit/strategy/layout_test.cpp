// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/layout.hpp"

#include <gtest/gtest.h>

namespace proteus::strategy {
namespace {

/// tp (atom 0) 2, dp (atom 1) 4, pp (atom 2) 3.
Mesh mesh() {
  MeshSpec spec;
  spec.order = {"tp", "dp", "pp"};
  spec.sizes = {{"tp", 2}, {"dp", 4}, {"pp", 3}};
  return Mesh(spec, 24);
}

Layout split(std::size_t dim, Atom atom) {
  Layout layout(2);
  layout.split[dim] = {atom};
  return layout;
}

Layout partial(Atom atom) {
  Layout layout(2);
  layout.partial = {{atom, Reduction::sum}};
  return layout;
}

const std::vector<std::int64_t> extents{16, 8};  // 128 elements

struct Case {
  const char* name;
  Layout from, to;
  Reshard::Kind kind;
  std::int64_t elements;
};

class OneStep : public testing::TestWithParam<Case> {};

TEST_P(OneStep, IsTheCollectiveOfTheAlgebra) {
  const Case& c = GetParam();
  const auto steps = reshard(c.from, c.to, extents, mesh());
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, c.kind);
  EXPECT_EQ(steps[0].atoms, std::vector<Atom>{1});
  EXPECT_EQ(steps[0].elements, c.elements);
}

// Sizes: the whole buffer for reduce-scatter and all-gather, the device's own share for all-to-all and all-reduce.
INSTANTIATE_TEST_SUITE_P(
    Transitions, OneStep,
    testing::Values(Case{"PartialToReplicate", partial(1), Layout(2), Reshard::Kind::all_reduce, 128},
                    Case{"PartialToSplit", partial(1), split(0, 1), Reshard::Kind::reduce_scatter, 128},
                    Case{"SplitToReplicate", split(0, 1), Layout(2), Reshard::Kind::all_gather, 128},
                    Case{"SplitToOtherSplit", split(0, 1), split(1, 1), Reshard::Kind::all_to_all, 32},
                    Case{"ReplicateToSplit", Layout(2), split(1, 1), Reshard::Kind::slice, 128}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Layout, FlatShardsAreReduceScatterAndAllGather) {
  Layout flat(2);
  flat.flat = {1};
  EXPECT_EQ(reshard(partial(1), flat, extents, mesh()).at(0).kind, Reshard::Kind::reduce_scatter);
  EXPECT_EQ(reshard(flat, Layout(2), extents, mesh()).at(0).kind, Reshard::Kind::all_gather);
  EXPECT_EQ(flat.local_elements({10, 1}, mesh()), 3);  // 10 over 4, rounded up
}

TEST(Layout, MakesTensorsSmallerBeforeItGathers) {
  Layout from(2);
  from.split[0] = {0};
  from.partial = {{1, Reduction::sum}};
  Layout to(2);
  to.split[1] = {1};
  const auto steps = reshard(from, to, extents, mesh());
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, Reshard::Kind::reduce_scatter);
  EXPECT_EQ(steps[0].elements, 64);  // half of the tensor is here
  EXPECT_EQ(steps[1].kind, Reshard::Kind::all_gather);
  EXPECT_EQ(steps[1].elements, 32);  // a quarter of both halves
}

TEST(Layout, OneCollectiveServesSeveralAtoms) {
  Layout from(2);
  from.partial = {{0, Reduction::sum}, {1, Reduction::sum}};
  const auto steps = reshard(from, Layout(2), extents, mesh());
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].atoms, (std::vector<Atom>{0, 1}));
}

TEST(Layout, SumsAndMaximaAreReducedApart) {
  Layout from(2);
  from.partial = {{0, Reduction::sum}, {1, Reduction::max}};
  EXPECT_EQ(reshard(from, Layout(2), extents, mesh()).size(), 2u);
}

TEST(Layout, NothingMakesPartialSums) {
  EXPECT_THROW(reshard(Layout(2), partial(1), extents, mesh()), std::invalid_argument);
}

TEST(Layout, PartialResultsGetTheWholeGradient) {
  Layout layout = split(0, 0);
  layout.partial = {{1, Reduction::sum}};
  EXPECT_EQ(layout.gradient(), split(0, 0));
}

TEST(Mesh, ViewsCompileToTheirCommonRefinement) {
  MeshSpec spec;
  spec.order = {"tp", "dp", "pp"};
  spec.views = {{"expert", {"etp", "ep", "edp", "pp"}}};
  spec.sizes = {{"tp", 4}, {"dp", 4}, {"pp", 2}, {"etp", 1}, {"ep", 8}, {"edp", 2}};
  const Mesh refined(spec, 32);
  // Borders at 4 and 16 (tp, dp) and at 8 and 16 (ep, edp): atoms of 4, 2, 2 and 2.
  ASSERT_EQ(refined.atoms(), 4u);
  EXPECT_EQ(refined.axis("dp"), (std::vector<Atom>{1, 2}));
  EXPECT_EQ(refined.axis("ep"), (std::vector<Atom>{0, 1}));
  EXPECT_EQ(refined.axis("edp"), std::vector<Atom>{2});
  EXPECT_EQ(refined.axis_size("ep"), 8);
  EXPECT_EQ(refined.stride(2), 8);
}

TEST(Mesh, RefusesViewsWithoutACommonRefinement) {
  MeshSpec spec;
  spec.order = {"a", "b"};
  spec.views = {{"other", {"c", "d"}}};
  spec.sizes = {{"a", 2}, {"b", 3}, {"c", 3}, {"d", 2}};
  EXPECT_THROW(Mesh(spec, 6), InputError);
}

TEST(Mesh, RefusesAnotherNumberOfDevices) {
  MeshSpec spec;
  spec.order = {"tp"};
  spec.sizes = {{"tp", 3}};
  EXPECT_THROW(Mesh(spec, 4), InputError);
}

}  // namespace
}  // namespace proteus::strategy
