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

}  // namespace
}  // namespace proteus::graph
