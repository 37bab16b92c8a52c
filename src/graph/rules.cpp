// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

namespace proteus::graph {
namespace {

using strategy::Role;

bool matches(const strategy::RuleMatch& match, const ReshardTag& tag) {
  return (!match.role || *match.role == tag.role) && (!match.pass || *match.pass == tag.pass) &&
         (!match.collective || *match.collective == tag.collective) &&
         (!match.schedule || *match.schedule == tag.schedule);
}

Stream stream_named(const std::string& name, const SourceLocation& where) {
  for (int i = 0; i < stream_count; ++i) {
    if (name_of(static_cast<Stream>(i)) == name) return static_cast<Stream>(i);
  }
  throw InputError(where, "rules.stream", "unknown stream `" + name + "`", "tensor, gradient, forward_send, ...");
}

[[noreturn]] void refuse(const strategy::Rule& rule, Role role, const std::string& key, const std::string& expected) {
  throw InputError(rule.where, "runtime.rules.effect." + key,
                   "no lowering of role " + std::string(strategy::name_of(role)) + " does this", expected);
}

/// What the lowering of a role does not read, or does in one way only, is refused rather than ignored. A rule that
/// speaks of all roles means those that read its keys.
void check_read(const strategy::Rule& rule, Role role) {
  const strategy::RuleEffect& effect = rule.effect;
  const bool between_layouts =
      role == Role::activation || role == Role::saved || role == Role::activation_gradient || role == Role::pipeline;
  const bool gradient = role == Role::gradient;
  if (gradient && effect.when == "all") refuse(rule, role, "when", "last");
  if (role == Role::replicated_gradient && effect.coalesce == false) refuse(rule, role, "coalesce", "true");
  if (!rule.match.role) return;
  if (effect.stream && role == Role::pipeline) refuse(rule, role, "stream", "no such key: each direction has its own");
  if (effect.wait_before == "next" && !between_layouts) refuse(rule, role, "wait_before", "use");
  if (effect.issue_after && !gradient) {
    const std::string_view only = between_layouts ? "ready" : "backward";
    if (*effect.issue_after != only) refuse(rule, role, "issue_after", std::string(only));
  }
  if (effect.when == "last" && between_layouts) refuse(rule, role, "when", "all");
  if (effect.when == "all" && !between_layouts) refuse(rule, role, "when", "last");
  if (effect.bucket_elements && !gradient) refuse(rule, role, "bucket_elements", "the role gradient");
  if (effect.bucket_elements_per_rank && !gradient) {
    refuse(rule, role, "bucket_elements_per_rank", "the role gradient");
  }
  if (effect.first_bucket_elements && !gradient) refuse(rule, role, "first_bucket_elements", "the role gradient");
  if (effect.bucket_chunks && !gradient) refuse(rule, role, "bucket_chunks", "the role gradient");
  if (effect.decompose && role != Role::pipeline) refuse(rule, role, "decompose", "the role pipeline");
  if (effect.coalesce && role != Role::replicated_gradient) {
    refuse(rule, role, "coalesce", "the role replicated_gradient");
  }
}

}  // namespace

Issue issue_of(const strategy::Runtime& runtime, const ReshardTag& tag, Stream default_stream, DataType default_type) {
  Issue issue;
  issue.stream = default_stream;
  issue.type = default_type;
  for (const strategy::Rule& rule : runtime.rules) {
    if (!matches(rule.match, tag)) continue;
    const strategy::RuleEffect& effect = rule.effect;
    check_read(rule, tag.role);
    if (effect.stream) issue.stream = stream_named(*effect.stream, rule.where);
    if (effect.wait_before) issue.wait_next = *effect.wait_before == "next";
    if (effect.issue_after) issue.after_backward = *effect.issue_after == "backward";
    if (effect.host_sync) issue.host_sync = *effect.host_sync;
    if (effect.decompose) issue.scatter_gather = *effect.decompose == "scatter-gather";
    if (effect.bucket_elements) issue.bucket_elements = *effect.bucket_elements;
    if (effect.bucket_elements_per_rank) issue.bucket_elements_per_rank = *effect.bucket_elements_per_rank;
    if (effect.first_bucket_elements) issue.first_bucket_elements = *effect.first_bucket_elements;
    if (effect.bucket_chunks) issue.only_first_chunk_buckets = *effect.bucket_chunks == "first";
    if (effect.type) issue.type = *effect.type;
  }
  return issue;
}

}  // namespace proteus::graph
