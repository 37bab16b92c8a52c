// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/layout.hpp"

#include <gtest/gtest.h>

#include <string>

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

// What one atom may do to a tensor of two dims, and the collective of every change (rows: before). A slice is local.
enum class State { replicated, split0, split1, flat, partial };
constexpr State states[] = {State::replicated, State::split0, State::split1, State::flat, State::partial};

void set(Layout& layout, Atom atom, State state) {
  switch (state) {
    case State::replicated:
      break;
    case State::split0:
      layout.split[0].push_back(atom);
      break;
    case State::split1:
      layout.split[1].push_back(atom);
      break;
    case State::flat:
      layout.flat.push_back(atom);
      break;
    case State::partial:
      layout.partial.emplace_back(atom, Reduction::sum);
      break;
  }
}

TEST(Layout, EveryPairOfStates) {
  // - nothing, s slice, g all-gather, a all-to-all, r all-reduce, c reduce-scatter, x impossible
  const char* const table[] = {"-sssx",   // replicated
                               "g-aax",   // split 0
                               "ga-ax",   // split 1
                               "gaa-x",   // flat
                               "rccc-"};  // partial
  const std::string letters = "scrag";    // in the order of Reshard::Kind
  for (std::size_t before = 0; before < 5; ++before) {
    for (std::size_t after = 0; after < 5; ++after) {
      Layout from(2), to(2);
      set(from, 1, states[before]);
      set(to, 1, states[after]);
      std::string found;
      try {
        for (const Reshard& step : reshard(from, to, extents, mesh()))
          found += letters[static_cast<std::size_t>(step.kind)];
        if (found.empty()) found = "-";
      } catch (const std::invalid_argument&) {
        found = "x";
      }
      EXPECT_EQ(found, std::string(1, table[before][after])) << before << " to " << after;
    }
  }
}

TEST(Layout, SizesOfTheStepsLeadFromOneShareToTheOther) {
  // Two atoms in all 5^4 combinations: what a device holds shrinks and grows by the members of each step, and sizes are
  // the larger side of it.
  const Mesh m = mesh();
  int changes = 0;
  for (int code = 0; code < 5 * 5 * 5 * 5; ++code) {
    Layout from(2), to(2);
    set(from, 0, states[code % 5]);
    set(from, 1, states[code / 5 % 5]);
    set(to, 0, states[code / 25 % 5]);
    set(to, 1, states[code / 125]);
    std::vector<Reshard> steps;
    try {
      steps = reshard(from, to, extents, m);
    } catch (const std::invalid_argument&) {
      continue;
    }
    std::int64_t held = from.local_elements(extents, m);
    for (const Reshard& step : steps) {
      std::int64_t members = 1;
      for (Atom atom : step.atoms) members *= m.size(atom);
      const bool shrinks = step.kind == Reshard::Kind::slice || step.kind == Reshard::Kind::reduce_scatter;
      if (step.kind == Reshard::Kind::all_gather) held *= members;
      EXPECT_EQ(step.elements, held) << code;
      if (shrinks) held /= members;
      ++changes;
    }
    EXPECT_EQ(held, to.local_elements(extents, m)) << code;
  }
  EXPECT_GT(changes, 400);
}

Layout cut(std::vector<Atom> rows, std::vector<Atom> flat = {}) {
  Layout layout(2);
  layout.split[0] = std::move(rows);
  layout.flat = std::move(flat);
  return layout;
}

/// "g1 s0": the kinds (s slice, c reduce-scatter, r all-reduce, a all-to-all, g all-gather) with their atoms.
std::string text(const std::vector<Reshard>& steps) {
  const std::string letters = "scrag";
  std::string result;
  for (const Reshard& step : steps) {
    result += (result.empty() ? "" : " ") + std::string(1, letters[static_cast<std::size_t>(step.kind)]);
    for (Atom atom : step.atoms) result += std::to_string(atom);
  }
  return result;
}

// A block of rows is contiguous: only the innermost cut can be gathered or added in place.
TEST(Layout, CutsComeAndGoFromTheInside) {
  const Mesh m = mesh();
  const auto steps = [&](const Layout& from, const Layout& to) { return text(reshard(from, to, extents, m)); };
  EXPECT_EQ(steps(cut({0, 1}), cut({0})), "g1");
  EXPECT_EQ(steps(cut({0}), cut({0, 1})), "s1");
  EXPECT_EQ(steps(cut({0, 1}), cut({1})), "g01 s1");      // the outer cut goes, the inner one stays
  EXPECT_EQ(steps(cut({1}), cut({0, 1})), "g1 s01");      // a new cut outside
  EXPECT_EQ(steps(cut({0, 1}), cut({1, 0})), "g01 s01");  // another order
  EXPECT_EQ(steps(cut({0}), cut({1})), "g0 s1");          // another atom: not a slice of what is there
}

TEST(Layout, FlatBuffersAreWholeWhileDimsChange) {
  const Mesh m = mesh();
  const auto steps = [&](const Layout& from, const Layout& to) { return text(reshard(from, to, extents, m)); };
  EXPECT_EQ(steps(cut({0}, {1}), cut({}, {1})), "g1 g0 s1");
  EXPECT_EQ(steps(cut({}, {1}), cut({0}, {1})), "g1 s0 s1");
  EXPECT_EQ(steps(cut({0}), cut({}, {1})), "g0 s1");
  EXPECT_EQ(steps(cut({0}, {1}), cut({0})), "g1");
  Layout owed = cut({0});
  owed.partial = {{1, Reduction::sum}};
  EXPECT_EQ(steps(owed, cut({0}, {1})), "c1");  // gradients to the shard of the distributed optimizer
  EXPECT_EQ(steps(owed, cut({}, {1})), "g0 c1");
}

}  // namespace
}  // namespace proteus::strategy
