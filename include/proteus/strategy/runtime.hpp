// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proteus/base/data_type.hpp"
#include "proteus/base/error.hpp"
#include "proteus/base/quantity.hpp"

namespace proteus::strategy {

/// What a reshard is for. The algebra tags each with one; runtime rules match on it.
enum class Role : std::uint8_t {
  activation,  ///< a tensor of the forward pass
  saved,       ///< a saved tensor gathered again for backward
  activation_gradient,
  gradient,             ///< of a parameter, over replicas
  replicated_gradient,  ///< of a parameter that tensor-parallel devices hold whole
  shared_gradient,      ///< of a parameter with users on several stages
  parameter,            ///< updated shards back to the whole parameter
  pipeline,             ///< activations and their gradients between stages
  scalar,               ///< gradient norm, found-inf flag
};

std::string_view name_of(Role role);

/// Which ops a rule speaks of; an absent field matches everything.
struct RuleMatch {
  std::optional<Role> role;
  std::optional<std::string> pass;        ///< "forward", "backward", "epilogue"
  std::optional<std::string> collective;  ///< "all-reduce", "all-gather", ...
  std::optional<std::string> schedule;    ///< "1f1b", "interleaved-1f1b", "gpipe"
};

/// How and when a framework issues what the layouts ask for. Fields left out keep what an earlier match said.
struct RuleEffect {
  std::optional<std::string> stream;  ///< a Stream name
  /// "next": the very next compute op waits; "use": only the op that needs the result (asynchronous)
  std::optional<std::string> wait_before;
  std::optional<std::string>
      issue_after;                        ///< "ready" (as soon as the operand is), "backward" (when the pass has ended)
  std::optional<std::string> when;        ///< "all", "last": micro-batches of an accumulation that run it
  std::optional<DataType> type;           ///< dtype on the wire
  std::optional<double> bucket_elements;  ///< bucket size: max(bucket_elements, bucket_elements_per_rank * group)
  std::optional<double> bucket_elements_per_rank;
  std::optional<double> first_bucket_elements;  ///< of the bucket that is complete first; default: as the others
  std::optional<std::string> bucket_chunks;     ///< "all", or "first": other model chunks have one bucket each
  std::optional<bool> host_sync;                ///< the host waits for its end (cudaStreamSynchronize, .item())
  std::optional<std::string> decompose;         ///< "scatter-gather": slice over tp, send, all-gather
  std::optional<bool> coalesce;                 ///< all of one phase in one call
};

struct Rule {
  RuleMatch match;
  RuleEffect effect;
  std::string source;
  SourceLocation where;
};

/// The habits of one framework version: a file of catalog/runtimes. Later rules override earlier ones, field by field.
struct Runtime {
  std::string name;
  std::string mirrors;  ///< framework and version or commit
  std::string source;
  DataType gradient_type = DataType::fp32;   ///< main gradients
  Time host_kernel;                          ///< host time to issue one compute kernel
  Time host_collective;                      ///< host time to issue one collective or send/receive
  double optimizer_bytes_per_parameter = 0;  ///< memory traffic of the fused Adam step on one local parameter
  double norm_bytes_per_parameter = 0;       ///< of gradient norm, clipping and unscaling together
  double state_bytes_per_parameter = 0;      ///< optimizer states incl. fp32 master weights held
  std::int64_t vocab_multiple = 128;         ///< vocabulary is padded to a multiple of this times tp
  double compute_slowdown = 0;               ///< gamma: compute beside a communication kernel takes 1 + this
  double communication_slowdown = 0;         ///< the same for the communication kernel
  Bytes context_bytes;                       ///< CUDA context and kernels, outside the allocator
  /// Interleaved 1F1B with as many micro-batches as stages runs all forwards before the first backward.
  bool interleaved_all_forwards_first = false;
  std::vector<Rule> rules;
};

}  // namespace proteus::strategy
