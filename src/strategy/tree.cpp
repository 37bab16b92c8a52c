// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/tree.hpp"

#include <algorithm>
#include <optional>

namespace proteus::strategy {
namespace {

std::vector<Atom> atoms_of(const Mesh& mesh, const std::vector<std::string>& axes, const Annotation& entry,
                           const std::string& key) {
  std::vector<Atom> atoms;
  for (const std::string& axis : axes) {
    if (!mesh.has_axis(axis)) {
      throw InputError(entry.where, "strategy.tree." + entry.selector + "." + key, "unknown mesh axis `" + axis + "`",
                       "an axis or group of strategy.mesh");
    }
    const auto& found = mesh.axis(axis);
    atoms.insert(atoms.end(), found.begin(), found.end());
  }
  return atoms;
}

/// What the annotations say of one op before data flow: the last entry that has a key decides it.
struct Annotated {
  std::optional<std::vector<std::vector<Atom>>> split;
  const Annotation* split_entry = nullptr;
};

class Planner {
 public:
  Planner(const model::Graph& graph, const Strategy& strategy, const Mesh& mesh)
      : graph_(graph), strategy_(strategy), mesh_(mesh), plans_(graph.ops.size()), annotated_(graph.ops.size()) {}

  std::vector<OpPlan> run() && {
    for (const Annotation& entry : strategy_.tree) annotate(entry);
    for (model::OpId id = 0; id < graph_.ops.size(); ++id) {
      plans_[id].split = annotated_[id].split ? *annotated_[id].split : inferred(id);
      check(id);
    }
    check_shared_parameters();
    return std::move(plans_);
  }

 private:
  void annotate(const Annotation& entry) {
    static const char* const stores[] = {"weight", "gradient", "optimizer", "saved"};
    for (const auto& [what, axes] : entry.store) {
      if (std::find(std::begin(stores), std::end(stores), what) == std::end(stores)) {
        throw InputError(entry.where, "strategy.tree." + entry.selector + ".store", "unknown key `" + what + "`",
                         "weight, gradient, optimizer or saved");
      }
    }
    const Selector selector(entry.selector, entry.where);
    bool matched = false;
    std::map<std::string, bool> dim_found;
    for (model::OpId id = 0; id < graph_.ops.size(); ++id) {
      const model::Op& op = graph_.ops[id];
      if (!selector.matches(op)) continue;
      matched = true;
      if (entry.split) split(entry, op, annotated_[id], dim_found);
      if (entry.recompute) plans_[id].recompute = *entry.recompute;
      for (const auto& [what, axes] : entry.store)
        plans_[id].store[what] = atoms_of(mesh_, axes, entry, "store." + what);
      if (entry.implementation && *entry.implementation != "default") {
        throw InputError(entry.where, "strategy.tree." + entry.selector + ".implementation",
                         "no implementation `" + *entry.implementation + "` of " + op.path, "default");
      }
    }
    if (!matched) {
      throw InputError(entry.where, "strategy.tree." + entry.selector, "the selector matches nothing in the model",
                       "a path such as layers.*.attention.qkv");
    }
    for (const auto& [dim, found] : dim_found) {
      if (!found) {
        throw InputError(entry.where, "strategy.tree." + entry.selector + ".split." + dim,
                         "no selected op has a dim of this name", "one of their dims, see compile --print tree");
      }
    }
  }

  void split(const Annotation& entry, const model::Op& op, Annotated& result, std::map<std::string, bool>& dim_found) {
    std::vector<std::vector<Atom>> parts(op.dims.size());
    bool any = entry.split->empty();
    for (const auto& [name, axes] : *entry.split) {
      const int dim = op.dim(name);
      dim_found[name] = dim_found[name] || dim >= 0;
      if (dim < 0) continue;
      any = true;
      parts[static_cast<std::size_t>(dim)] = atoms_of(mesh_, axes, entry, "split." + name);
    }
    if (!any) return;  // a wildcard that met an op without any of these dims
    result.split = std::move(parts);
    result.split_entry = &entry;
  }

  std::vector<std::vector<Atom>> inferred(model::OpId id) const {
    const model::Op& op = graph_.ops[id];
    std::vector<std::vector<Atom>> parts(op.dims.size());
    std::vector<const model::Op*> decided_by(op.dims.size(), nullptr);
    for (const model::Operand& operand : op.inputs) {
      const model::OpId producer = graph_.tensors[operand.tensor].producer;
      const model::Op& source = graph_.ops[producer];
      const Layout layout = plans_[producer].output(source, source.outputs.front());
      for (std::size_t i = 0; i < operand.dims.size(); ++i) {
        const auto dim = static_cast<std::size_t>(operand.dims[i]);
        if (op.dims[dim].kind == model::DimKind::opaque) continue;  // gathered before use
        if (decided_by[dim] != nullptr && parts[dim] != layout.split[i]) {
          throw InputError(strategy_.where, "strategy.tree." + op.path,
                           "its inputs from " + decided_by[dim]->path + " and " + source.path +
                               " are split differently along `" + op.dims[dim].name + "`",
                           "a split for " + op.path);
        }
        parts[dim] = layout.split[i];
        decided_by[dim] = &source;
      }
    }
    return parts;
  }

  void check(model::OpId id) const {
    const model::Op& op = graph_.ops[id];
    const Annotation* entry = annotated_[id].split_entry;
    const SourceLocation& where = entry != nullptr ? entry->where : strategy_.where;
    std::vector<int> used(mesh_.atoms(), -1);
    for (std::size_t dim = 0; dim < op.dims.size(); ++dim) {
      const std::string key = "strategy.tree." + op.path + ".split." + op.dims[dim].name;
      std::int64_t parts = 1;
      for (Atom atom : plans_[id].split[dim]) {
        parts *= mesh_.size(atom);
        if (used[atom] >= 0) {
          throw InputError(where, key,
                           "axis `" + mesh_.name_of({atom}) + "` splits `" +
                               op.dims[static_cast<std::size_t>(used[atom])].name + "` already",
                           "every axis on one dim of an op");
        }
        used[atom] = static_cast<int>(dim);
      }
      if (parts > 1 && op.dims[dim].kind == model::DimKind::opaque) {
        throw InputError(where, key, "the dim cannot be split", "another dim of " + op.path);
      }
      if (op.dims[dim].size % parts != 0) {
        throw InputError(where, key,
                         "size " + std::to_string(op.dims[dim].size) + " does not divide by " + std::to_string(parts) +
                             " (axis " + mesh_.name_of(plans_[id].split[dim]) + ")",
                         "a degree that divides it");
      }
    }
  }

  /// A parameter lies in one way, whoever uses it.
  void check_shared_parameters() const {
    std::map<model::TensorId, std::pair<model::OpId, Layout>> first;
    for (model::OpId id = 0; id < graph_.ops.size(); ++id) {
      for (const model::Operand& operand : graph_.ops[id].parameters) {
        const Layout layout = plans_[id].input(operand);
        const auto [known, fresh] = first.try_emplace(operand.tensor, id, layout);
        if (fresh || known->second.second == layout) continue;
        const model::Op& op = graph_.ops[id];
        const Annotation* entry = annotated_[id].split_entry;
        throw InputError(entry != nullptr ? entry->where : strategy_.where, "strategy.tree." + op.path + ".split",
                         op.path + " has " + graph_.tensors[operand.tensor].name + " as " + layout.describe(mesh_) +
                             ", " + graph_.ops[known->second.first].path + " has it as " +
                             known->second.second.describe(mesh_),
                         "the same split of a parameter for all that use it");
      }
    }
  }

  const model::Graph& graph_;
  const Strategy& strategy_;
  const Mesh& mesh_;
  std::vector<OpPlan> plans_;
  std::vector<Annotated> annotated_;
};

Layout from_dims(const std::vector<std::vector<Atom>>& split, const std::vector<int>& dims) {
  Layout layout(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (static_cast<std::size_t>(dims[i]) < split.size()) layout.split[i] = split[static_cast<std::size_t>(dims[i])];
  }
  return layout;
}

/// Atoms that split a dim of the op which `dims` does not name become partial.
void add_partials(Layout& layout, const std::vector<std::vector<Atom>>& split, const std::vector<int>& dims,
                  const std::vector<model::Dim>* reductions) {
  for (std::size_t dim = 0; dim < split.size(); ++dim) {
    if (std::find(dims.begin(), dims.end(), static_cast<int>(dim)) != dims.end()) continue;
    const bool max = reductions != nullptr && (*reductions)[dim].kind == model::DimKind::max;
    for (Atom atom : split[dim]) layout.partial.emplace_back(atom, max ? Reduction::max : Reduction::sum);
  }
  std::sort(layout.partial.begin(), layout.partial.end());
}

}  // namespace

Layout OpPlan::input(const model::Operand& operand) const { return from_dims(split, operand.dims); }

Layout OpPlan::output(const model::Op& op, const model::Operand& operand) const {
  Layout layout = from_dims(split, operand.dims);
  add_partials(layout, split, operand.dims, &op.dims);
  return layout;
}

Layout OpPlan::contribution(const model::Operand& operand) const {
  Layout layout = from_dims(split, operand.dims);
  add_partials(layout, split, operand.dims, nullptr);
  return layout;
}

std::vector<OpPlan> plan(const model::Graph& graph, const Strategy& strategy, const Mesh& mesh) {
  return Planner(graph, strategy, mesh).run();
}

}  // namespace proteus::strategy
