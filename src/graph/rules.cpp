// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

namespace proteus::graph {
namespace {

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

}  // namespace

Issue issue_of(const strategy::Runtime& runtime, const ReshardTag& tag, Stream default_stream, DataType default_type) {
  Issue issue;
  issue.stream = default_stream;
  issue.type = default_type;
  for (const strategy::Rule& rule : runtime.rules) {
    if (!matches(rule.match, tag)) continue;
    const strategy::RuleEffect& effect = rule.effect;
    // What no lowering does yet is refused rather than ignored.
    if (effect.when && *effect.when == "all" && tag.role == strategy::Role::gradient) {
      throw InputError(rule.where, "runtime.rules.effect.when", "gradients are reduced with the last micro-batch only",
                       "last");
    }
    if (effect.coalesce && !*effect.coalesce && tag.role == strategy::Role::replicated_gradient) {
      throw InputError(rule.where, "runtime.rules.effect.coalesce", "replicated gradients are reduced in one call only",
                       "true");
    }
    if (effect.stream) issue.stream = stream_named(*effect.stream, rule.where);
    if (effect.wait_before) issue.wait_next = *effect.wait_before == "next";
    if (effect.issue_after) issue.after_backward = *effect.issue_after == "backward";
    if (effect.host_sync) issue.host_sync = *effect.host_sync;
    if (effect.decompose) issue.scatter_gather = *effect.decompose == "scatter-gather";
    if (effect.bucket_elements) issue.bucket_elements = *effect.bucket_elements;
    if (effect.bucket_elements_per_rank) issue.bucket_elements_per_rank = *effect.bucket_elements_per_rank;
    if (effect.type) issue.type = *effect.type;
  }
  return issue;
}

}  // namespace proteus::graph
