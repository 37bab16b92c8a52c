// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proteus/strategy/mesh.hpp"

namespace proteus::strategy {

enum class Reduction : std::uint8_t { sum, max };

/// How a tensor lies on a mesh. Each atom splits one dim, or holds a partial result that is still to be reduced, or
/// holds a shard of the tensor as a flat buffer (whose cuts ignore dims), or else replicates.
struct Layout {
  std::vector<std::vector<Atom>> split;             ///< by tensor dim; atoms of one dim: outermost cut first
  std::vector<std::pair<Atom, Reduction>> partial;  ///< ascending by atom
  std::vector<Atom> flat;                           ///< ascending

  explicit Layout(std::size_t dims = 0) : split(dims) {}

  bool operator==(const Layout&) const = default;

  /// Dim that `atom` splits, or -1.
  int split_dim(Atom atom) const;
  bool is_partial(Atom atom) const;
  bool is_flat(Atom atom) const;

  /// Devices that share the elements of one copy.
  std::int64_t shards(const Mesh& mesh) const;
  /// Elements of one device of a tensor with these extents; flat shards are rounded up.
  std::int64_t local_elements(const std::vector<std::int64_t>& extents, const Mesh& mesh) const;

  /// The layout that the gradient of such a tensor has: partial results get the whole gradient.
  Layout gradient() const;

  /// "[batch/dp, seq, hidden/tp] partial sum over cp" with positions for names.
  std::string describe(const Mesh& mesh) const;
};

/// One collective, or a local slice, of a change of layout.
struct Reshard {
  enum class Kind : std::uint8_t { slice, reduce_scatter, all_reduce, all_to_all, all_gather };
  Kind kind = Kind::slice;
  std::vector<Atom> atoms;    ///< of the communicator, ascending
  std::int64_t elements = 0;  ///< size as cost::CommunicationCost counts it: the whole buffer of reduce-scatter and
                              ///< all-gather, one device's share of the others
  Reduction reduction = Reduction::sum;
};

/// The collectives that bring a tensor of `extents` from one layout to another: what makes it smaller first (slices,
/// reduce-scatters), then all-reduces and all-to-alls, then all-gathers. Transitions of one kind over several atoms are
/// one collective. Where cuts change that others lie inside of, outer ones or their order, those are gathered before
/// the new ones are made. Partial to Replicate is an all-reduce, Partial to Split or FlatShard a reduce-scatter, Split
/// or FlatShard to Replicate an all-gather, Split(i) to Split(j) an all-to-all, Replicate to Split a local slice.
/// Throws std::invalid_argument for a change that no sequence of these makes (anything to Partial).
std::vector<Reshard> reshard(const Layout& from, const Layout& to, const std::vector<std::int64_t>& extents,
                             const Mesh& mesh);

}  // namespace proteus::strategy
