// SPDX-License-Identifier: Apache-2.0
#include "random_strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <random>
#include <string_view>
#include <vector>

#include "proteus/base/hash.hpp"

namespace proteus::property {
namespace {

struct Site {
  std::string_view path;
  std::vector<std::string_view> dims;  ///< that may be split, besides batch
  bool in_layer = true;
};

const std::vector<Site>& sites() {
  static const std::vector<Site> list{
      {"embedding.word", {"seq", "vocab", "hidden"}, false},
      {"attention.norm", {"seq"}},
      {"attention.qkv", {"seq", "in", "out"}},
      {"attention.core.*", {"heads"}},
      {"attention.proj", {"seq", "in", "out"}},
      {"attention.add", {"seq", "hidden"}},
      {"mlp.norm", {"seq"}},
      {"mlp.fc1", {"seq", "in", "out"}},
      {"mlp.activation", {"seq", "ffn"}},
      {"mlp.fc2", {"seq", "in", "out"}},
      {"mlp.add", {"seq", "hidden"}},
      {"head.norm", {"seq"}, false},
      {"head.output", {"seq", "in", "out"}, false},
      {"head.loss.*", {"seq", "vocab"}, false},
  };
  return list;
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(mix64(seed + 1)) {}

  std::string text() {
    deal_devices();
    return model() + fmt::format("cluster: {{name: dgx-a100-80g, nodes: {}}}\n", nodes_) + strategy() +
           "simulate: {iterations: 1, trace: none}\n";
  }

 private:
  // The distributions of the standard library differ between implementations.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(count));
  }
  bool chance(int percent) { return below(100) < percent; }

  std::string_view pick_schedule() {
    constexpr std::array<std::string_view, 3> schedules{"1f1b", "gpipe", "zb-h1"};
    return schedules[static_cast<std::size_t>(below(3))];
  }

  /// Powers of two for the four axes, whose product is all GPUs.
  void deal_devices() {
    nodes_ = std::int64_t{1} << below(3);
    for (std::int64_t left = 8 * nodes_; left > 1; left /= 2) sizes_[static_cast<std::size_t>(below(4))] *= 2;
    if (sizes_[3] > 4) {
      sizes_[0] *= sizes_[3] / 4;
      sizes_[3] = 4;
    }
  }

  std::string model() {
    layers_ = sizes_[3] * (1 + below(2));
    return fmt::format(
        "model: {{layers: {}, hidden: 384, heads: {}, kv_heads: 8, head_dim: 48, ffn_hidden: 768, vocab: 1000, "
        "seq_len: 64, activation: {}, normalization: rms_norm, position: {}, attention: {}, bias: {}, dropout: {}, "
        "tied_embeddings: {}}}\n",
        layers_, chance(50) ? 8 : 16, chance(50) ? "gelu" : "swiglu", chance(50) ? "rotary" : "learned",
        chance(50) ? "flash" : "unfused", chance(50), chance(50), chance(50));
  }

  std::string strategy() {
    std::string tree = "    - '**': {split: {batch: dp}}\n";
    for (const Site& site : sites()) {
      if (!chance(60)) continue;
      tree += annotation(site.in_layer ? "layers.*." : "", site);
      if (site.in_layer && chance(15)) tree += annotation("layers[0].", site);
    }
    if (chance(30)) tree += fmt::format("    - layers.*: {{recompute: {}}}\n", chance(50) ? "full" : "selective");
    if (chance(30)) tree += "    - '**': {store: {optimizer: dp}}\n";
    const std::int64_t micro_batches = 1 + below(4);
    return fmt::format(
        "strategy:\n  mesh: {{order: [x, y, dp, pp], x: {}, y: {}, dp: {}, pp: {}}}\n  tree:\n{}"
        "  stages: {{axis: pp}}\n  schedule: {{policy: {}}}\n  micro_batch: {}\n  global_batch: {}\n"
        "  batch_axis: dp\n  dtype: bf16\n  overlap_gradient_reduction: {}\n  runtime: megatron-core\n",
        sizes_[0], sizes_[1], sizes_[2], sizes_[3], tree, pick_schedule(), 4, 4 * sizes_[2] * micro_batches,
        chance(50));
  }

  /// Each of the axes x and y splits one dim, or none.
  std::string annotation(std::string_view prefix, const Site& site) {
    std::map<std::string_view, std::vector<std::string_view>> split{{"batch", {"dp"}}};
    constexpr std::array<std::string_view, 2> axes{"x", "y"};
    for (std::string_view axis : axes) {
      const std::int64_t choice = below(static_cast<std::int64_t>(site.dims.size()) + 2);
      if (choice == 0) continue;
      split[choice == 1 ? "batch" : site.dims[static_cast<std::size_t>(choice - 2)]].push_back(axis);
    }
    std::vector<std::string> parts;
    for (const auto& [dim, names] : split) parts.push_back(fmt::format("{}: [{}]", dim, fmt::join(names, ", ")));
    return fmt::format("    - '{}{}': {{split: {{{}}}}}\n", prefix, site.path, fmt::join(parts, ", "));
  }

  std::mt19937_64 random_;
  std::int64_t nodes_ = 1;
  std::int64_t layers_ = 1;
  std::array<std::int64_t, 4> sizes_{1, 1, 1, 1};  ///< x, y, dp, pp
};

}  // namespace

std::string random_strategy(std::uint64_t seed) { return Generator(seed).text(); }

}  // namespace proteus::property
