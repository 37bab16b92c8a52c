// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/layout.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace proteus::strategy {
namespace {

/// What one atom does, as far as a transition cares.
struct State {
  enum class Kind : std::uint8_t { replicate, split, flat, partial } kind = Kind::replicate;
  int dim = -1;
  Reduction reduction = Reduction::sum;
  bool operator==(const State&) const = default;
};

State state_of(const Layout& layout, Atom atom) {
  if (int dim = layout.split_dim(atom); dim >= 0) return {State::Kind::split, dim, Reduction::sum};
  if (layout.is_flat(atom)) return {State::Kind::flat, -1, Reduction::sum};
  for (const auto& [owner, reduction] : layout.partial) {
    if (owner == atom) return {State::Kind::partial, -1, reduction};
  }
  return {};
}

Reshard::Kind kind_of(const State& from, const State& to) {
  using Kind = State::Kind;
  const bool from_shard = from.kind == Kind::split || from.kind == Kind::flat;
  const bool to_shard = to.kind == Kind::split || to.kind == Kind::flat;
  if (from.kind == Kind::partial && to.kind == Kind::replicate) return Reshard::Kind::all_reduce;
  if (from.kind == Kind::partial && to_shard) return Reshard::Kind::reduce_scatter;
  if (from.kind == Kind::replicate && to_shard) return Reshard::Kind::slice;
  if (from_shard && to.kind == Kind::replicate) return Reshard::Kind::all_gather;
  if (from_shard && to_shard) return Reshard::Kind::all_to_all;
  throw std::invalid_argument("no collective makes partial sums");
}

}  // namespace

int Layout::split_dim(Atom atom) const {
  for (std::size_t dim = 0; dim < split.size(); ++dim) {
    if (std::find(split[dim].begin(), split[dim].end(), atom) != split[dim].end()) return static_cast<int>(dim);
  }
  return -1;
}

bool Layout::is_partial(Atom atom) const {
  return std::any_of(partial.begin(), partial.end(), [&](const auto& p) { return p.first == atom; });
}

bool Layout::is_flat(Atom atom) const { return std::find(flat.begin(), flat.end(), atom) != flat.end(); }

std::int64_t Layout::shards(const Mesh& mesh) const {
  std::int64_t count = 1;
  for (const auto& atoms : split) {
    for (Atom atom : atoms) count *= mesh.size(atom);
  }
  for (Atom atom : flat) count *= mesh.size(atom);
  return count;
}

std::int64_t Layout::local_elements(const std::vector<std::int64_t>& extents, const Mesh& mesh) const {
  std::int64_t count = 1;
  for (std::size_t dim = 0; dim < extents.size(); ++dim) {
    std::int64_t parts = 1;
    for (Atom atom : split[dim]) parts *= mesh.size(atom);
    count *= (extents[dim] + parts - 1) / parts;
  }
  std::int64_t parts = 1;
  for (Atom atom : flat) parts *= mesh.size(atom);
  return (count + parts - 1) / parts;
}

Layout Layout::gradient() const {
  Layout result = *this;
  result.partial.clear();
  return result;
}

std::string Layout::describe(const Mesh& mesh) const {
  std::string text = "[";
  for (std::size_t dim = 0; dim < split.size(); ++dim) {
    text += (dim == 0 ? "" : ", ") + (split[dim].empty() ? std::string("-") : "/" + mesh.name_of(split[dim]));
  }
  text += "]";
  if (!flat.empty()) text += " flat shard over " + mesh.name_of(flat);
  for (const auto& [atom, reduction] : partial) {
    text += std::string(" partial ") + (reduction == Reduction::sum ? "sum" : "max") + " over " + mesh.name_of({atom});
  }
  return text;
}

namespace {

/// How many leading atoms two lists share.
std::ptrdiff_t common_prefix(const std::vector<Atom>& a, const std::vector<Atom>& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

/// Whether one list goes on where the other ends, so that only innermost cuts come or go.
bool only_inner_cuts_change(const std::vector<Atom>& a, const std::vector<Atom>& b) {
  return common_prefix(a, b) == std::ssize(a) || common_prefix(a, b) == std::ssize(b);
}

std::vector<std::vector<Atom>> without(std::vector<std::vector<Atom>> split, const std::vector<Atom>& atoms) {
  for (auto& cuts : split) {
    std::erase_if(cuts, [&](Atom atom) { return std::find(atoms.begin(), atoms.end(), atom) != atoms.end(); });
  }
  return split;
}

/// A collective over one atom leaves blocks that are contiguous only where no other atom cuts inside them. Where the
/// way from one layout to the other would break that, the layout to go through; the same layout as `from` otherwise.
Layout layout_between(const Layout& from, const Layout& to) {
  Layout between = from;
  const bool flat_in_place = from.flat == to.flat && from.split == to.split;
  // A flat buffer is cut inside whatever the dims give a device, so it is whole while they change.
  if (!from.flat.empty() && !flat_in_place &&
      (!only_inner_cuts_change(from.flat, to.flat) || from.split != without(to.split, from.flat))) {
    between.flat.clear();
    return between;
  }
  for (std::size_t dim = 0; dim < from.split.size(); ++dim) {
    if (only_inner_cuts_change(from.split[dim], to.split[dim])) continue;
    between.split[dim].resize(static_cast<std::size_t>(common_prefix(from.split[dim], to.split[dim])));
  }
  if (between != from || !from.flat.empty() || to.flat.empty() || to.split == without(from.split, to.flat))
    return between;
  between = to;
  between.flat.clear();
  for (const auto& owed : from.partial) {
    if (std::find(to.flat.begin(), to.flat.end(), owed.first) != to.flat.end()) between.partial.push_back(owed);
  }
  std::sort(between.partial.begin(), between.partial.end());
  return between;
}

/// The steps where every dim gains or loses innermost cuts only.
std::vector<Reshard> direct_steps(const Layout& from, const Layout& to, const std::vector<std::int64_t>& extents,
                                  const Mesh& mesh) {
  // Grouped by kind in the order of Reshard::Kind; within a kind, reductions stay apart.
  std::map<std::pair<Reshard::Kind, Reduction>, std::vector<Atom>> groups;
  for (Atom atom = 0; atom < mesh.atoms(); ++atom) {
    const State before = state_of(from, atom);
    const State after = state_of(to, atom);
    if (before == after) continue;
    groups[{kind_of(before, after), before.reduction}].push_back(atom);
  }

  std::vector<Reshard> steps;
  std::int64_t local = from.local_elements(extents, mesh);
  for (const auto& [key, atoms] : groups) {
    std::int64_t members = 1;
    for (Atom atom : atoms) members *= mesh.size(atom);
    Reshard step{key.first, atoms, local, key.second};
    switch (key.first) {
      case Reshard::Kind::slice:
      case Reshard::Kind::reduce_scatter:
        local = (local + members - 1) / members;
        break;
      case Reshard::Kind::all_reduce:
      case Reshard::Kind::all_to_all:
        break;
      case Reshard::Kind::all_gather:
        step.elements = local *= members;
        break;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

std::vector<Reshard> reshard(const Layout& from, const Layout& to, const std::vector<std::int64_t>& extents,
                             const Mesh& mesh) {
  const Layout between = layout_between(from, to);
  if (between == from) return direct_steps(from, to, extents, mesh);
  std::vector<Reshard> steps = direct_steps(from, between, extents, mesh);
  const std::vector<Reshard> rest = reshard(between, to, extents, mesh);
  steps.insert(steps.end(), rest.begin(), rest.end());
  return steps;
}

}  // namespace proteus::strategy
