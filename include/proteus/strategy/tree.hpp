// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proteus/model/graph.hpp"
#include "proteus/strategy/layout.hpp"
#include "proteus/strategy/mesh.hpp"
#include "proteus/strategy/strategy.hpp"

namespace proteus::strategy {

/// Which nodes of the module tree an annotation speaks of. Segments are divided by dots; an index stands in brackets
/// ("layers[3]"), as a range "layers[0:4]" (half open), a range with a stride "layers[0:8:2]", or a wildcard
/// "layers.*".
/// "*" matches within a segment, "**" any number of segments; ":KIND" at the end keeps ops of one kind
/// ("layers.*:linear"). A selector that matches a module holds for all below it.
class Selector {
 public:
  /// Throws InputError at `where` for a range that is no range or an unknown op kind.
  Selector(const std::string& text, const SourceLocation& where);
  bool matches(const model::Op& op) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> segments_;
  std::string kind_;
};

/// What the tree and the data flow decided for one op.
struct OpPlan {
  std::vector<std::vector<Atom>> split;  ///< by op dim
  Recompute recompute = Recompute::none;
  std::map<std::string, std::vector<Atom>> store;  ///< weight, gradient, optimizer, saved -> atoms

  /// Layouts that follow: an operand is split where its dims are; an input is replicated over the other atoms; an
  /// output is partial over the atoms of reduced dims that do not index it.
  Layout input(const model::Operand& operand) const;
  Layout output(const model::Op& op, const model::Operand& operand) const;
  /// Layout in which the op's backward kernel finds the gradient of a tensor that it read: partial over atoms that
  /// split a dim of the op but not the tensor.
  Layout contribution(const model::Operand& operand) const;
};

/// Plans of all ops of `graph`, by spreading the annotations down the tree and the layouts along the data flow: an op
/// without an annotation takes the splits of its inputs (partial sums are reduced first).
/// Throws InputError for a selector or dim that matches nothing, an axis that is unknown or splits two dims, a size
/// that does not divide, a split of an opaque dim, and inputs that disagree (naming both ends).
std::vector<OpPlan> plan(const model::Graph& graph, const Strategy& strategy, const Mesh& mesh);

}  // namespace proteus::strategy
