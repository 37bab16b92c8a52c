// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>

#include "job_builder.hpp"

namespace proteus::executor::testing {

/// A training job of random shape: tensor parallelism inside islands or over two of them, data and pipeline parallelism
/// over them, GPipe, gradient buckets beside backward, a host that may be slow, an epilogue with a scalar.
class RandomJob {
 public:
  explicit RandomJob(std::uint32_t seed) : random_(seed), b_(devices(), island()) {
    b_.cluster.node.nics = pick({1, island_, island_});
    b_.cluster.fabric.nodes_per_leaf = pick({1, 2, 3});
    b_.cluster.fabric.oversubscription = pick({1, 2, 4});
    if (pick({0, 1}) == 1) b_.cluster.fabric.kind = cluster::FabricKind::fat_tree;
    b_.job.comm_slowdown = 1 + 0.1 * pick({0, 1, 3});
    b_.job.iterations = pick({1, 2, 3});
    add_families();
    micro_batches_ = pick({1, 2, 4});
    b_.stages(tp_ * dp_, pp_);
    for (int stage = 0; stage < pp_; ++stage) add_stage(stage);
    b_.finish();
  }

  JobBuilder take() { return std::move(b_); }

 private:
  int pick(std::initializer_list<int> choices) { return choices.begin()[random_() % choices.size()]; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  int island() { return island_ = pick({1, 2, 4}); }
  std::int64_t devices() {
    tp_ = pick({1, 2, 4});
    dp_ = pick({1, 2, 3, 4});
    pp_ = pick({1, 2, 4});
    return tp_ * dp_ * pp_;
  }

  std::uint32_t add(std::uint32_t family, cost::Collective kind, Traffic traffic, double nic) {
    std::int64_t latency = between(1'000'000, 20'000'000);
    auto c = b_.collective(family, kind, between(1, 4'000'000), traffic, latency, 1e9 * pick({10, 25, 100}), nic,
                           pick({0, 1, 2}));
    b_.job.collectives[c].beside_compute = pick({0, 1}) == 1;
    return c;
  }

  void add_families() {
    tensor_ = b_.family("tp", 0, {{tp_, dp_ * pp_}}, {{1, tp_}});
    data_ = b_.family("dp", 0, {{1, tp_}, {std::int64_t{tp_} * dp_, pp_}}, {{tp_, dp_}});
    world_ = b_.family("world", 0, {}, {{1, std::int64_t{tp_} * dp_ * pp_}});
    for (int stage = 0; stage + 1 < pp_; ++stage) {
      std::int64_t stride = std::int64_t{tp_} * dp_;
      auto pair = b_.family("pp " + std::to_string(stage), stage * stride, {{1, stride}}, {{stride, 2}});
      auto back = b_.family("pp back " + std::to_string(stage), (stage + 1) * stride, {{1, stride}}, {{-stride, 2}});
      forward_.push_back(add(pair, cost::Collective::send_receive, Traffic::pipeline, 1));
      backward_.push_back(add(back, cost::Collective::send_receive, Traffic::pipeline, 1));
    }
    all_reduce_ = add(tensor_, cost::Collective::all_reduce, Traffic::tensor, 1.5);
    exchange_ = add(tensor_, cost::Collective::all_to_all, Traffic::tensor, 0.75);
    for (int i = 0; i < 2; ++i) buckets_.push_back(add(data_, cost::Collective::reduce_scatter, Traffic::gradient, 1));
    gather_ = add(data_, cost::Collective::all_gather, Traffic::parameter, 1);
    norm_ = add(world_, cost::Collective::all_reduce, Traffic::scalar, 1);
    host_ = pick({0, 1000, 400'000, 3'000'000});
  }

  graph::ProgramOp gemm(std::vector<Wait> waits = {}) {
    std::int64_t duration = between(0, 8'000'000);
    std::int64_t slow = duration + duration * pick({0, 1, 2}) / 4;
    return B::compute(duration, std::move(waits), slow, host());
  }
  std::uint32_t host() { return host_ == 0 ? 0 : static_cast<std::uint32_t>(between(host_ / 2, host_)); }

  /// Compute with tensor collectives in between; every stage makes the same sequence of them.
  void add_body(std::vector<graph::ProgramOp>& ops, std::vector<Wait> first, int layers, int& computes, int& tensors,
                std::vector<std::uint32_t> buckets) {
    int gradients = 0;
    for (int layer = 0; layer < layers; ++layer) {
      int count = pick({1, 2, 5});
      for (int i = 0; i < count; ++i) {
        ops.push_back(gemm(first));
        first.clear();
        ++computes;
      }
      auto now = static_cast<std::uint16_t>(computes);
      ops.push_back(
          B::communicate(layer % 2 == 0 ? all_reduce_ : exchange_, Stream::tensor, {{Stream::compute, now}}, host()));
      first = {{Stream::tensor, static_cast<std::uint16_t>(++tensors)}};
      if (!buckets.empty()) {
        ops.push_back(B::communicate(buckets.back(), Stream::gradient, {{Stream::compute, now}}, host()));
        buckets.pop_back();
        ++gradients;
      }
      if (pick({0, 1}) == 1) {  // something to overlap with
        ops.push_back(gemm());
        ++computes;
      }
    }
    ops.push_back(gemm(first));
    ++computes;
  }

  void add_stage(int stage) {
    bool first = stage == 0;
    bool last = stage + 1 == pp_;
    bool synchronizes = pick({0, 0, 1}) == 1;
    auto pass = [&](bool forward, std::vector<std::uint32_t> buckets) {
      std::vector<graph::ProgramOp> ops;
      bool receives = forward ? !first : !last;
      bool sends = forward ? !last : !first;
      Stream in = forward ? Stream::forward_receive : Stream::backward_receive;
      Stream out = forward ? Stream::forward_send : Stream::backward_send;
      const auto& lanes = forward ? forward_ : backward_;
      std::vector<Wait> start;
      if (receives) {
        ops.push_back(B::communicate(lanes[static_cast<std::size_t>(forward ? stage - 1 : stage)], in, {}, host()));
        if (synchronizes) ops.back().host_sync = true;
        start = {{in, 1}};
      }
      int computes = 0;
      int tensors = 0;
      add_body(ops, start, 2, computes, tensors, std::move(buckets));
      if (sends) {
        ops.push_back(B::communicate(lanes[static_cast<std::size_t>(forward ? stage : stage - 1)], out,
                                     {{Stream::compute, static_cast<std::uint16_t>(computes)}}, host()));
      }
      return ops;
    };
    std::string text = "stage " + std::to_string(stage);
    auto forward = b_.phase(text + " forward", pass(true, {}));
    auto backward = b_.phase(text + " backward", pass(false, {}));
    auto final_backward = b_.phase(text + " last backward", pass(false, buckets_));
    auto norm = B::communicate(norm_, Stream::gradient, {{Stream::compute, 1}}, host());
    norm.host_sync = pick({0, 1}) == 1;
    auto epilogue =
        b_.phase(text + " epilogue", {gemm({{Stream::gradient, 0}}), norm, gemm({{Stream::gradient, 1}}),
                                      B::communicate(gather_, Stream::gradient, {{Stream::compute, 2}}, host())});
    std::vector<std::uint32_t> steps(static_cast<std::size_t>(micro_batches_), forward);
    steps.insert(steps.end(), static_cast<std::size_t>(micro_batches_ - 1), backward);
    steps.push_back(final_backward);
    steps.push_back(epilogue);
    b_.program(steps);
  }

  using B = JobBuilder;

  std::mt19937 random_;
  int island_ = 1;
  int tp_ = 1;
  int dp_ = 1;
  int pp_ = 1;
  int micro_batches_ = 1;
  int host_ = 0;
  JobBuilder b_;
  std::uint32_t tensor_ = 0;
  std::uint32_t data_ = 0;
  std::uint32_t world_ = 0;
  std::uint32_t all_reduce_ = 0;
  std::uint32_t exchange_ = 0;
  std::uint32_t gather_ = 0;
  std::uint32_t norm_ = 0;
  std::vector<std::uint32_t> forward_;
  std::vector<std::uint32_t> backward_;
  std::vector<std::uint32_t> buckets_;
};

}  // namespace proteus::executor::testing
