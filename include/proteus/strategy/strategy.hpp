// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proteus/base/data_type.hpp"
#include "proteus/base/error.hpp"

namespace proteus::strategy {

/// The devices in named axes; the first of `order` varies fastest with the device number. `groups` names several
/// axes used as one; `views` names other factorizations of the same devices (see mesh.hpp for their refinement).
struct MeshSpec {
  std::vector<std::string> order;                         ///< e.g. tp, cp, dp, pp
  std::map<std::string, std::int64_t> sizes;              ///< size of each axis in `order` and in `views`
  std::map<std::string, std::vector<std::string>> views;  ///< view name -> axes, first varies fastest
  std::map<std::string, std::vector<std::string>> groups;
  SourceLocation where;
};

enum class Recompute : std::uint8_t { none, selective, full };

/// One entry of the strategy tree, which is a list: later entries override earlier ones, key by key.
struct Annotation {
  std::string selector;  ///< module or op path with *, **, ranges "layers[0:4]" and strides; see tree.hpp
  /// Op dim -> mesh axes that split it, in order ("split: {batch: dp, seq: [cp, tp], out: tp}").
  std::optional<std::map<std::string, std::vector<std::string>>> split;
  /// How a tensor lies where it is kept, against where it is computed: weight, gradient, optimizer, saved -> axes.
  std::map<std::string, std::vector<std::string>> store;
  std::optional<Recompute> recompute;
  std::optional<std::string> implementation;
  SourceLocation where;
};

/// Which stage has chunk c of p stages. Loop: c mod p. V: up the stages with the first half and down again with the
/// second, two chunks a stage, so that first and last chunk share a stage.
enum class ChunkPlacement : std::uint8_t { loop, v };
/// "loop" or "v".
std::string_view name_of(ChunkPlacement placement);

/// Which mesh axis is the pipeline, and how modules are dealt to its stages.
struct Stages {
  std::string axis = "pp";
  std::int64_t chunks_per_stage = 1;  ///< virtual pipeline size
  ChunkPlacement placement = ChunkPlacement::loop;
  bool even = false;  ///< layers that do not divide over the chunks are dealt as evenly as possible
  std::vector<std::vector<std::string>> chunks;  ///< selectors per chunk, in order; empty: dealt evenly
  SourceLocation where;
};

enum class SchedulePolicy : std::uint8_t { gpipe, one_f_one_b, interleaved_1f1b, zb_h1, listed };
/// "gpipe", "1f1b", "interleaved-1f1b", "zb-h1" or "listed", as experiments and runtime rules write it.
std::string_view name_of(SchedulePolicy policy);

/// What runs one micro-batch through one chunk. `backward` makes both gradients; apart, weight_gradient comes behind
/// input_gradient at any time.
enum class PassKind : std::uint8_t { forward, backward, input_gradient, weight_gradient };
/// F, B, I or W, the letters of torch.distributed.pipelining (PyTorch 2.5, schedules.py, _ComputationType).
char letter_of(PassKind pass);

/// One pass of one stage: `chunk` counts the stage's own.
struct Pass {
  PassKind kind = PassKind::forward;
  std::int64_t chunk = 0;
  std::int64_t micro_batch = 0;
  bool operator==(const Pass&) const = default;
};
/// "F3", or "F3.1" through chunk 1.
std::string text_of(const Pass& pass);

/// Everything that says how a job runs: a preset makes one, a user may write one whole.
struct Strategy {
  MeshSpec mesh;
  std::vector<Annotation> tree;
  Stages stages;
  SchedulePolicy schedule = SchedulePolicy::one_f_one_b;
  std::vector<std::vector<Pass>> order;  ///< passes of each stage; for SchedulePolicy::listed
  std::int64_t micro_batch = 1;          ///< samples of one micro-batch on one replica
  std::int64_t global_batch = 0;         ///< samples of an iteration over all replicas
  std::string batch_axis = "dp";   ///< replicas: global_batch = micro_batch * size(axis) * number of micro-batches
  DataType type = DataType::bf16;  ///< weights and activations
  std::string runtime;             ///< name of a file in catalog/runtimes
  bool overlap_gradient_reduction = false;
  SourceLocation where;
};

/// Options of the `megatron` preset, named as Megatron-LM's flags.
struct MegatronOptions {
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t vpp = 1;  ///< model chunks per stage; > 1 selects interleaved 1F1B
  /// Embedding, and head with loss, count as a layer each when layers are dealt to chunks.
  bool account_for_embedding_in_pipeline_split = false;
  bool account_for_loss_in_pipeline_split = false;
  std::optional<std::int64_t> dp;  ///< default: devices / (tp * pp); otherwise must equal it
  bool sequence_parallel = false;
  std::int64_t micro_batch = 1;
  std::int64_t global_batch = 0;
  Recompute recompute = Recompute::none;
  bool distributed_optimizer = false;
  bool overlap_grad_reduce = false;
  DataType type = DataType::bf16;
  std::string runtime = "megatron-core";
  std::vector<Annotation> tree;                     ///< appended to what the preset makes
  SourceLocation where;                             ///< of `strategy:`
  std::map<std::string, SourceLocation> key_where;  ///< of each key given, for errors about its value
};

/// The annotations, stages and schedule that Megatron-LM's flags mean. `layers`: transformer layers of the model.
/// Throws InputError where degrees do not divide.
Strategy megatron(const MegatronOptions& options, std::int64_t devices, std::int64_t layers);

/// Options of the `ddp` preset.
struct DataParallelOptions {
  std::int64_t micro_batch = 1;
  std::int64_t global_batch = 0;
  Recompute recompute = Recompute::none;
  DataType type = DataType::bf16;
  std::string runtime = "pytorch-ddp";
  std::vector<Annotation> tree;  ///< appended to what the preset makes
  SourceLocation where;          ///< of `strategy:`
};

/// A replica of the model on every device, gradients reduced beside the last backward: PyTorch's
/// DistributedDataParallel (Li et al., VLDB 2020). Throws InputError where the batch does not divide.
Strategy data_parallel(const DataParallelOptions& options, std::int64_t devices);

}  // namespace proteus::strategy
