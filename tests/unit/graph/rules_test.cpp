// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::graph {
namespace {

using strategy::Role;

constexpr ReshardTag gradients{Role::gradient, "backward", "all-reduce", "1f1b"};

strategy::Rule rule(Role role) {
  strategy::Rule result;
  result.match.role = role;
  result.where = {"runtime.yaml", 9, 5};
  return result;
}

Issue issue(const std::vector<strategy::Rule>& rules, const ReshardTag& tag = gradients) {
  strategy::Runtime runtime;
  runtime.rules = rules;
  return issue_of(runtime, tag, Stream::gradient, DataType::fp32);
}

TEST(Rules, WithoutAMatchDefaultsHold) {
  strategy::Rule other = rule(Role::pipeline);
  other.effect.host_sync = true;
  const Issue found = issue({other});
  EXPECT_EQ(found.stream, Stream::gradient);
  EXPECT_EQ(found.type, DataType::fp32);
  EXPECT_FALSE(found.host_sync || found.wait_next || found.after_backward || found.scatter_gather);
  EXPECT_EQ(found.bucket_elements, 0);
}

TEST(Rules, LaterOnesOverrideFieldByField) {
  strategy::Rule first = rule(Role::gradient), second = rule(Role::gradient);
  first.effect.type = DataType::bf16;
  first.effect.issue_after = "backward";
  first.effect.bucket_elements = 40e6;
  second.effect.issue_after = "ready";
  second.effect.stream = "tensor";
  const Issue found = issue({first, second});
  EXPECT_EQ(found.type, DataType::bf16);  // the second says nothing of it
  EXPECT_EQ(found.bucket_elements, 40e6);
  EXPECT_FALSE(found.after_backward);
  EXPECT_EQ(found.stream, Stream::tensor);
}

TEST(Rules, EveryFieldOfAMatchMustHold) {
  strategy::Rule narrow = rule(Role::gradient);
  narrow.effect.host_sync = true;
  EXPECT_TRUE(issue({narrow}).host_sync);
  narrow.match.schedule = "1f1b";
  narrow.match.pass = "backward";
  narrow.match.collective = "all-reduce";
  EXPECT_TRUE(issue({narrow}).host_sync);
  EXPECT_FALSE(issue({narrow}, {Role::gradient, "backward", "all-reduce", "interleaved-1f1b"}).host_sync);
  EXPECT_FALSE(issue({narrow}, {Role::gradient, "epilogue", "all-reduce", "1f1b"}).host_sync);
  EXPECT_FALSE(issue({narrow}, {Role::gradient, "backward", "reduce-scatter", "1f1b"}).host_sync);
  EXPECT_FALSE(issue({narrow}, {Role::parameter, "backward", "all-reduce", "1f1b"}).host_sync);
}

TEST(Rules, WhatNoLoweringDoesIsRefused) {
  strategy::Rule always = rule(Role::gradient), apart = rule(Role::replicated_gradient), stream = rule(Role::gradient);
  always.effect.when = "all";
  EXPECT_THROW(issue({always}), InputError);
  apart.effect.coalesce = false;
  EXPECT_THROW(issue({apart}, {Role::replicated_gradient, "epilogue", "all-reduce", "1f1b"}), InputError);
  stream.effect.stream = "gradients";
  EXPECT_THAT([&] { issue({stream}); },
              testing::ThrowsMessage<InputError>(testing::AllOf(testing::HasSubstr("runtime.yaml:9"),
                                                                testing::HasSubstr("unknown stream `gradients`"))));
}

/// The key that a rule of `role` with only this effect is refused for; empty where it is taken.
template <typename Set>
std::string refused(Role role, Set set) {
  strategy::Rule only = rule(role);
  set(only.effect);
  try {
    issue({only}, {role, "backward", "all-reduce", "1f1b"});
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_THAT(text, testing::HasSubstr("runtime.yaml:9"));
    EXPECT_THAT(text, testing::HasSubstr(std::string(strategy::name_of(role))));
    const std::string before = "runtime.rules.effect.";
    const std::size_t key = text.find(before) + before.size();
    return text.substr(key, text.find(':', key) - key);
  }
  return "";
}

TEST(Rules, AKeyThatTheRoleDoesNotReadIsRefused) {
  using E = strategy::RuleEffect;
  const auto wait = [](E& e) { e.wait_before = "next"; };
  EXPECT_EQ(refused(Role::gradient, wait), "wait_before");
  EXPECT_EQ(refused(Role::scalar, wait), "wait_before");
  EXPECT_EQ(refused(Role::saved, wait), "");
  const auto behind = [](E& e) { e.issue_after = "backward"; };
  EXPECT_EQ(refused(Role::activation, behind), "issue_after");
  EXPECT_EQ(refused(Role::gradient, behind), "");
  EXPECT_EQ(refused(Role::parameter, behind), "");
  EXPECT_EQ(refused(Role::parameter, [](E& e) { e.issue_after = "ready"; }), "issue_after");
  EXPECT_EQ(refused(Role::activation, [](E& e) { e.when = "last"; }), "when");
  EXPECT_EQ(refused(Role::parameter, [](E& e) { e.when = "all"; }), "when");
  EXPECT_EQ(refused(Role::parameter, [](E& e) { e.bucket_elements = 1; }), "bucket_elements");
  EXPECT_EQ(refused(Role::saved, [](E& e) { e.bucket_elements_per_rank = 1; }), "bucket_elements_per_rank");
  EXPECT_EQ(refused(Role::parameter, [](E& e) { e.first_bucket_elements = 1; }), "first_bucket_elements");
  EXPECT_EQ(refused(Role::activation, [](E& e) { e.bucket_chunks = "first"; }), "bucket_chunks");
  EXPECT_EQ(refused(Role::activation, [](E& e) { e.decompose = "scatter-gather"; }), "decompose");
  EXPECT_EQ(refused(Role::gradient, [](E& e) { e.coalesce = true; }), "coalesce");
  EXPECT_EQ(refused(Role::pipeline, [](E& e) { e.stream = "tensor"; }), "stream");
}

TEST(Rules, ARuleOfAllRolesMeansThoseThatReadItsKeys) {
  strategy::Rule all;
  all.effect.wait_before = "next";
  EXPECT_NO_THROW(issue({all}));
  EXPECT_TRUE(issue({all}, {Role::activation, "forward", "all-reduce", "1f1b"}).wait_next);
}

}  // namespace
}  // namespace proteus::graph
