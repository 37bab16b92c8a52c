// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives.hpp"
#include "phase_builder.hpp"
#include "placement.hpp"
#include "proteus/graph/compile.hpp"
#include "proteus/strategy/tree.hpp"
#include "rules.hpp"

namespace proteus::graph {

/// Everything that the lowering of one job shares.
struct LoweringContext {
  const CompileInput& input;
  const strategy::Mesh& mesh;
  const model::Graph& graph;
  const std::vector<strategy::OpPlan>& plans;
  std::vector<std::vector<model::OpId>> chunks;   ///< ops of each global chunk, in order
  std::vector<int> chunk_of;                      ///< global chunk of each op
  std::vector<std::vector<model::OpId>> readers;  ///< of each tensor
  Placement placement;
  Collectives& collectives;
  Names& names;
  std::string_view schedule_name;  ///< as runtime rules spell it

  LocalOp local(model::OpId id) const;
  strategy::Layout produced(model::TensorId tensor) const;  ///< layout in which its producer leaves it
  std::int64_t local_elements(model::TensorId tensor, const strategy::Layout& layout) const;
  /// Whether `id` is computed again in backward instead of keeping what it saves.
  bool recomputed(model::OpId id) const;
  /// Global chunk that reads `tensor` behind `chunk`, or -1.
  int reader_behind(model::TensorId tensor, int chunk) const;
};

/// A parameter of a chunk, in the order in which its gradient becomes ready.
struct ParameterUse {
  model::TensorId tensor = 0;
  std::int64_t elements = 0;             ///< on one device
  std::vector<strategy::Atom> replicas;  ///< atoms of the batch axis over which its gradient is partial
  std::vector<strategy::Atom> others;    ///< other atoms over which it is partial
};

/// Parameters of `chunk` in backward order; a parameter with two users in the chunk stands once, and one that an
/// earlier chunk of the same stage uses too stands there.
std::vector<ParameterUse> parameters_of(const LoweringContext& context, int chunk);

/// Gradient reductions to be issued while a backward pass runs: a bucket is complete with its last parameter.
struct Bucket {
  std::vector<model::TensorId> parameters;
  std::int64_t elements = 0;
};
/// Cuts the parameters of a chunk into buckets of at least `elements` (0: one bucket), the one that is complete first
/// of at least `first` (0: as the others).
std::vector<Bucket> buckets_of(const std::vector<ParameterUse>& parameters, double elements, double first = 0);

/// Lowers one pass of one chunk (`chunk`: global number). `reduce`: with the gradient reductions of the last
/// micro-batch. `paired`: see Slot.
Phase lower_pass(const LoweringContext& context, int chunk, strategy::PassKind kind, bool reduce, bool paired);
/// Whether compute waits for the exchanges between stages, rather than those for it.
bool exchanges_are_synchronous(const LoweringContext& context, std::string_view pass);
/// The end of the step on `stage`: what is left of gradient reduction, then the optimizer.
Phase lower_epilogue(const LoweringContext& context, int stage);

/// The collective that reduces `elements` gradients over the replicas, and whether it scatters them.
CollectiveUse gradient_reduction(const LoweringContext& context, const std::vector<strategy::Atom>& replicas,
                                 std::int64_t elements, const Issue& issue);
Issue gradient_issue(const LoweringContext& context);
/// Whether reductions run beside the last backward rather than after it.
bool reduces_in_backward(const LoweringContext& context);
/// Atoms over which the optimizer states of `chunk`'s parameters are sharded; empty without a distributed optimizer.
std::vector<strategy::Atom> optimizer_atoms(const LoweringContext& context, int chunk);

}  // namespace proteus::graph
