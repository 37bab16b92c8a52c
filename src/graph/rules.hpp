// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "proteus/graph/program.hpp"
#include "proteus/strategy/runtime.hpp"

namespace proteus::graph {

/// The tags of one abstract reshard.
struct ReshardTag {
  strategy::Role role = strategy::Role::activation;
  std::string_view pass;  ///< "forward", "backward", "epilogue"
  std::string_view collective;
  std::string_view schedule;
};

/// What all matching rules of a runtime say together, with defaults where none speaks.
struct Issue {
  Stream stream = Stream::tensor;
  bool wait_next = false;       ///< the very next compute op waits for it
  bool after_backward = false;  ///< issue when the pass has ended
  bool host_sync = false;
  bool scatter_gather = false;
  double bucket_elements = 0;  ///< 0: one bucket
  double bucket_elements_per_rank = 0;
  double first_bucket_elements = 0;       ///< 0: as the others
  bool only_first_chunk_buckets = false;  ///< chunks behind the first of the pipeline have one bucket
  DataType type = DataType::bf16;         ///< on the wire
};

/// Throws InputError for a stream name that does not exist.
Issue issue_of(const strategy::Runtime& runtime, const ReshardTag& tag, Stream default_stream, DataType default_type);

}  // namespace proteus::graph
