// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "proteus/graph/compile.hpp"

namespace proteus::graph {

/// Every kernel takes 1 us, every collective 10 us and 1 GB/s: these tests count, they do not time.
class FlatCompute final : public cost::ComputeCost {
 public:
  cost::Cost gemm(const cost::Gemm&) const override { return flat(); }
  cost::Cost attention(const cost::FusedAttention&) const override { return flat(); }
  cost::Cost memory_bound(cost::MemoryBoundKind, double) const override { return flat(); }

 private:
  static cost::Cost flat() { return {Time::microseconds(1), 0, cost::Provenance::roofline}; }
};

class FlatCommunication final : public cost::CommunicationCost {
 public:
  cost::CollectiveCost collective(cost::Collective, Bytes, const cost::Placement&) const override {
    cost::CollectiveCost price;
    price.latency = Time::microseconds(10);
    price.bandwidth = {1e9};
    return price;
  }
};

/// A small GPT on nodes of eight GPUs, and a runtime without rules.
class Compile : public testing::Test {
 protected:
  Compile() {
    model_.layers = 8;
    model_.hidden = 1024;
    model_.heads = model_.kv_heads = 16;
    model_.head_dim = 64;
    model_.ffn_hidden = 4096;
    model_.vocab = 51200;
    model_.seq_len = 2048;
    model_.attention = model::AttentionKernel::unfused;
    model_.dropout = true;
    cluster_.node.gpus = 8;
    cluster_.node.gpu.peak[DataType::bf16] = {1e14};
    runtime_.gradient_type = DataType::fp32;
    runtime_.state_bytes_per_parameter = 12;
    options_.tp = 8;
    options_.micro_batch = 2;
    options_.global_batch = 64;
  }

  Job compile(std::int64_t nodes) {
    cluster_.nodes = static_cast<int>(nodes);
    const strategy::Strategy strategy = strategy::megatron(options_, cluster_.devices(), model_.layers);
    return compile(strategy);
  }

  Job compile(const strategy::Strategy& strategy, int iterations = 1) const {
    const model::Model model{"small", "", {}, model_};
    return graph::compile({model, cluster_, strategy, runtime_, compute_, communication_, iterations});
  }

  /// Sends and receives go out in one batch and are waited for, as Megatron-LM does in 1F1B.
  void wait_for_exchanges() {
    strategy::Rule rule;
    rule.match.role = strategy::Role::pipeline;
    rule.effect.wait_before = "next";
    rule.effect.host_sync = true;
    runtime_.rules.push_back(rule);
  }

  /// The phase of this name that the program of `stage` runs.
  static const Phase& phase_of(const Job& job, std::int64_t stage, const std::string& name) {
    for (const Step& step : job.programs[job.program_of_stage.at(static_cast<std::size_t>(stage))].steps) {
      if (job.phases[step.phase].name == name) return job.phases[step.phase];
    }
    throw std::out_of_range(name);
  }

  /// Instances of each kind of collective with one kind of traffic in one phase.
  static std::map<cost::Collective, int> count(const Job& job, const Phase& phase, Traffic traffic,
                                               DataType type = DataType::bf16) {
    std::map<cost::Collective, int> counts;
    for (const ProgramOp& op : phase.ops) {
      if (op.is_compute()) continue;
      const CollectiveUse& use = job.collectives[op.collective];
      if (use.traffic == traffic && use.type == type) ++counts[use.kind];
    }
    return counts;
  }

  /// Sizes of those collectives, in bytes, and how often each comes.
  static std::map<std::int64_t, int> sizes(const Job& job, const Phase& phase, Traffic traffic, DataType type) {
    std::map<std::int64_t, int> counts;
    for (const ProgramOp& op : phase.ops) {
      if (op.is_compute()) continue;
      const CollectiveUse& use = job.collectives[op.collective];
      if (use.traffic == traffic && use.type == type) ++counts[use.size.value];
    }
    return counts;
  }

  model::TransformerConfig model_;
  cluster::Cluster cluster_;
  strategy::Runtime runtime_;
  strategy::MegatronOptions options_;
  FlatCompute compute_;
  FlatCommunication communication_;
};

}  // namespace proteus::graph
