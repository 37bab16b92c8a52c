// SPDX-License-Identifier: Apache-2.0
#include "random_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <random>
#include <string_view>
#include <vector>

#include "proteus/base/hash.hpp"

namespace proteus::property {
namespace {

// All ranks and partitions have something to do, and a run takes milliseconds.
constexpr std::int64_t most_devices = 32;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    choose_degrees();
    choose_layers();
    return "# SPDX-License-Identifier: Apache-2.0\n" + model() + cluster() + strategy() + simulate();
  }

 private:
  // The distributions of the standard library differ between implementations.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(count));
  }
  std::int64_t between(std::int64_t first, std::int64_t last) { return first + below(last - first + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<std::int64_t>(values.size())));
  }
  std::string_view pick(std::initializer_list<std::string_view> values) { return pick<std::string_view>(values); }
  std::string_view flag(int percent) { return chance(percent) ? "true" : "false"; }

  void choose_degrees() {
    do {
      tp_ = pick({1, 1, 2, 2, 3, 4, 8});
      pp_ = pick({1, 2, 2, 3, 4});
      dp_ = pick({1, 2, 2, 3, 4, 6});
    } while (tp_ * pp_ * dp_ > most_devices || tp_ * pp_ * dp_ < 2);
    vpp_ = pp_ > 1 && chance(30) ? pick({2, 2, 3}) : 1;
    preset_ = chance(70);
    ends_ = preset_ && chance(10);
  }

  void choose_layers() {
    const std::int64_t even = pp_ * vpp_ * pick({1, 1, 2, 3}) - (ends_ ? 2 : 0);
    layers_ = chance(95) && even > 0 ? even : between(1, 9);
  }

  std::string model() {
    const std::int64_t heads = chance(90) ? tp_ * pick({1, 2, 3}) : pick({4, 6, 10});
    const std::int64_t kv_heads = chance(40) ? pick({std::int64_t{tp_}, std::int64_t{1}, std::int64_t{2}}) : heads;
    const std::int64_t width = pick({16, 32, 64, 96});
    const std::int64_t hidden = chance(90) ? heads * width : heads * width + tp_ * 8;
    std::string out =
        fmt::format("model:\n  label: random\n  layers: {}\n  hidden: {}\n  heads: {}\n", layers_, hidden, heads);
    if (kv_heads != heads) out += fmt::format("  kv_heads: {}\n", kv_heads);
    if (hidden != heads * width || chance(10)) out += fmt::format("  head_dim: {}\n", width);
    out += fmt::format("  ffn_hidden: {}\n  vocab: {}\n  seq_len: {}\n", tp_ * 16 * between(2, 40), between(100, 40000),
                       chance(90) ? 24 * pick({2, 4, 8, 16, 40}) : between(16, 700));
    out += fmt::format("  activation: {}\n  normalization: {}\n  position: {}\n  attention: {}\n",
                       pick({"gelu", "swiglu"}), pick({"layer_norm", "rms_norm"}), pick({"learned", "rotary"}),
                       pick({"flash", "unfused"}));
    return out + fmt::format("  bias: {}\n  dropout: {}\n  tied_embeddings: {}\n", flag(50), flag(30), flag(50));
  }

  std::string cluster() {
    struct Kind {
      std::string_view node;
      std::string_view nccl;
      int gpus;
      int domain;  ///< 0: as many as there are GPUs
    };
    static constexpr std::array<Kind, 12> kinds = {{{"DGX-A100-80", "2.12", 0, 0},
                                                    {"DGX-A100-40", "2.12", 0, 0},
                                                    {"DGX-H100", "2.21", 0, 0},
                                                    {"AWS_p5", "2.21", 0, 0},
                                                    {"DGX-B200", "2.27", 0, 0},
                                                    {"GB200_NVL72", "2.27", 4, 72},
                                                    {"DGX-1V", "2.12", 0, 0},
                                                    {"DGX-2", "2.12", 0, 0},
                                                    {"Summit", "2.12", 6, 3},
                                                    {"Perlmutter", "2.18", 0, 0},
                                                    {"MI300X_8x_OAM", "2.21", 0, 0},
                                                    {"GTX1080_8x_PCIe_1ib", "2.12", 0, 1}}};
    const Kind& kind = kinds[static_cast<std::size_t>(below(kinds.size()))];
    devices_ = tp_ * pp_ * dp_;
    std::vector<std::int64_t> sizes;  // of nodes, such that several are full
    for (std::int64_t gpus : {1, 2, 3, 4, 6, 8, 16}) {
      if (devices_ % gpus == 0 && (kind.gpus == 0 || gpus == kind.gpus)) sizes.push_back(gpus);
    }
    if (sizes.empty()) sizes.push_back(kind.gpus);
    const std::int64_t gpus = sizes[static_cast<std::size_t>(below(std::ssize(sizes)))];
    const std::int64_t domain = kind.domain == 0 ? gpus : kind.domain;
    // A node too few or too many does not fit the degrees.
    const std::int64_t nodes = std::max<std::int64_t>(1, devices_ / gpus + (chance(3) ? pick({-1, 1}) : 0));
    devices_ = nodes * gpus;
    std::string out = "cluster:\n  label: random\n";
    out += fmt::format("  nodes: {}\n  nccl: \"{}\"\n  node: {{name: {}, gpus: {}, nvlink_domain: {}, nics: {}}}\n",
                       nodes, kind.nccl, kind.node, gpus, domain, chance(80) ? gpus : pick({1, 2, 8}));
    return out +
           fmt::format("  fabric: {{kind: {}, nodes_per_leaf: {}, oversubscription: {}, switch_latency: {} ns}}\n",
                       pick({"rail-optimized-fat-tree", "fat-tree"}), between(1, 4), pick({"1", "1", "1.5", "2", "4"}),
                       pick({0, 90, 150, 500}));
  }

  std::string strategy() {
    const std::int64_t micro_batch = pick({1, 1, 2, 3});
    const std::int64_t micro_batches = vpp_ > 1 && chance(95) ? pp_ * between(1, 2) : between(1, 6);
    sequence_parallel_ = tp_ > 1 ? chance(50) : chance(2);
    runtime_ = pick({"megatron-core", "megatron-core", "megatron-lm-2022", "megatron-lm-2021"});
    overlap_ = chance(runtime_ == "megatron-core" ? 50 : 2);
    std::string out = "strategy:\n";
    out += preset_ ? preset() : written_out();
    out += fmt::format("  micro_batch: {}\n  global_batch: {}\n", micro_batch,
                       micro_batch * micro_batches * dp_ + (chance(2) ? 1 : 0));
    return out + fmt::format("  dtype: {}\n", pick({"bf16", "bf16", "bf16", "fp16", "fp16", "fp32"})) + runtime();
  }

  std::string preset() {
    std::string out = fmt::format("  preset: megatron\n  tp: {}\n  pp: {}\n  vpp: {}\n", tp_, pp_, vpp_);
    if (chance(30)) out += fmt::format("  dp: {}\n", dp_);
    out += fmt::format("  sequence_parallel: {}\n  recompute: {}\n", sequence_parallel_,
                       pick({"none", "none", "selective", "full"}));
    out += fmt::format("  distributed_optimizer: {}\n  overlap_grad_reduce: {}\n", flag(40), overlap_);
    if (ends_) {
      out += "  account_for_embedding_in_pipeline_split: true\n  account_for_loss_in_pipeline_split: true\n";
    }
    if (chance(15)) out += fmt::format("  tree:\n    - \"layers[0:1]\": {{recompute: {}}}\n", pick({"none", "full"}));
    return out;
  }

  std::string written_out() {
    std::array<std::string_view, 3> order = {"tp", "dp", "pp"};
    for (std::size_t i = 2; i > 0; --i) std::swap(order[i], order[static_cast<std::size_t>(below(std::ssize(order)))]);
    std::string out =
        fmt::format("  mesh: {{order: [{}], tp: {}, dp: {}, pp: {}}}\n", fmt::join(order, ", "), tp_, dp_, pp_);
    const std::string_view between_linears = sequence_parallel_ ? "tp" : "[]";
    const std::string beside = fmt::format("{{split: {{batch: dp, seq: {}}}}}", between_linears);
    out += "  tree:\n    - \"embedding.*\": " + beside + "\n";
    out += "    - embedding.word: {split: {batch: dp, vocab: tp}}\n";
    for (std::string_view part : {"attention", "mlp"}) {
      const bool attention = part == "attention";
      out += fmt::format("    - \"layers.*.{}.norm\": {}\n    - \"layers.*.{}.add\": {}\n", part, beside, part, beside);
      out +=
          fmt::format("    - \"layers.*.{}.{}\": {{split: {{batch: dp, out: tp}}}}\n", part, attention ? "qkv" : "fc1");
      out +=
          fmt::format("    - \"layers.*.{}.{}\": {{split: {{batch: dp, in: tp}}}}\n", part, attention ? "proj" : "fc2");
    }
    out += "    - head.norm: " + beside + "\n    - head.output: {split: {batch: dp, out: tp}}\n";
    if (sequence_parallel_ && chance(70)) {
      for (std::string_view path : {"layers.*.attention.qkv", "layers.*.mlp.fc1", "head.output"}) {
        out += fmt::format("    - \"{}\": {{store: {{saved: tp}}}}\n", path);
      }
    }
    if (chance(30)) {
      out +=
          fmt::format("    - \"layers[0:{}]\": {{recompute: {}}}\n", between(1, layers_), pick({"selective", "full"}));
    }
    if (chance(30)) out += "    - \"**\": {store: {optimizer: dp}}\n";
    out += fmt::format("  stages: {{axis: pp, chunks_per_stage: {}}}\n  schedule: {{policy: {}}}\n", vpp_,
                       vpp_ > 1 ? "interleaved-1f1b" : pick({"1f1b", "gpipe"}));
    return out + fmt::format("  batch_axis: dp\n  overlap_gradient_reduction: {}\n", overlap_);
  }

  /// The host costs more than the kernels of a small model unless it is made faster; gradients fill one bucket unless
  /// buckets are made smaller.
  std::string runtime() {
    if (chance(25)) return fmt::format("  runtime: {}\n", runtime_);
    std::string out = fmt::format("  runtime:\n    name: {}\n", runtime_);
    if (chance(70)) {
      out += fmt::format("    host_kernel: {} ns\n    host_collective: {} ns\n", pick({0, 1, 50, 500, 5000}),
                         pick({0, 1, 100, 1000}));
    }
    if (chance(20)) {
      out += fmt::format("    compute_slowdown: {}\n    communication_slowdown: {}\n", pick({"0", "0.3", "1"}),
                         pick({"0", "0.5"}));
    }
    if (chance(60)) {
      out += fmt::format(
          "    rules:\n      - {{match: {{role: gradient}}, effect: {{type: {}, bucket_elements: {}, "
          "bucket_elements_per_rank: 0, issue_after: {}}}}}\n",
          pick({"fp32", "bf16"}), pick({1, 3000, 50000, 1000000}), pick({"ready", "backward"}));
    }
    return out;
  }

  std::string simulate() {
    std::string out = fmt::format("simulate:\n  iterations: {}\n  trace: all\n  compress: none\n  seed: {}\n",
                                  between(1, 3), below(1000));
    if (chance(50)) out += fmt::format("  compute_jitter: {}\n", pick({"0.005", "0.02", "0.1", "0.3"}));
    out += fmt::format("  network: {}\n", chance(75) ? "max-min" : "fair-share");
    if (!chance(30)) return out;
    out += "  delays:\n";
    for (std::int64_t i = between(1, 2); i > 0; --i) {
      out += fmt::format("    - {{device: {}, position: {}, by: {}}}\n", below(devices_), below(chance(90) ? 60 : 2000),
                         pick({"1 ps", "10 us", "700 us", "20 ms"}));
    }
    return out;
  }

  std::mt19937_64 random_;
  std::int64_t tp_ = 1;
  std::int64_t pp_ = 1;
  std::int64_t dp_ = 1;
  std::int64_t vpp_ = 1;
  std::int64_t layers_ = 1;
  std::int64_t devices_ = 1;
  bool preset_ = true;
  bool ends_ = false;
  bool sequence_parallel_ = false;
  bool overlap_ = false;
  std::string_view runtime_;
};

}  // namespace

std::string random_experiment(std::uint64_t seed, int attempt) {
  constexpr std::uint64_t most_attempts = 1000;
  return Generator(mix64((seed + 1) * most_attempts + static_cast<std::uint64_t>(attempt))).text();
}

}  // namespace proteus::property
