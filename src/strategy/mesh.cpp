// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/mesh.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace proteus::strategy {
namespace {

std::int64_t size_of_axis(const MeshSpec& spec, const std::string& axis) {
  auto found = spec.sizes.find(axis);
  if (found == spec.sizes.end()) {
    throw InputError(spec.where, "strategy.mesh." + axis, "the axis has no size", "a positive integer");
  }
  if (found->second < 1) {
    throw InputError(spec.where, "strategy.mesh." + axis, "size " + std::to_string(found->second),
                     "a positive integer");
  }
  return found->second;
}

/// Adds where each axis of a factorization begins and ends, as products of sizes.
void add_borders(const MeshSpec& spec, const std::vector<std::string>& order, std::set<std::int64_t>& borders) {
  std::int64_t product = 1;
  for (const std::string& axis : order) borders.insert(product *= size_of_axis(spec, axis));
}

/// Devices of a factorization; any number above `most` for more than these.
std::int64_t product_of(const MeshSpec& spec, const std::vector<std::string>& order, std::int64_t most) {
  std::int64_t product = 1;
  for (const std::string& axis : order) {
    const std::int64_t size = size_of_axis(spec, axis);
    if (size > most / product) return std::numeric_limits<std::int64_t>::max();
    product *= size;
  }
  return product;
}

std::string devices_text(std::int64_t product, std::int64_t devices) {
  return product > devices ? "more than " + std::to_string(devices) : std::to_string(product);
}

}  // namespace

Mesh::Mesh(const MeshSpec& spec, std::int64_t devices) : devices_(devices) {
  std::set<std::int64_t> borders{1};
  if (const std::int64_t product = product_of(spec, spec.order, devices); product != devices) {
    throw InputError(spec.where, "strategy.mesh", "the axes have " + devices_text(product, devices) + " devices",
                     "a product of " + std::to_string(devices) + ", the devices of the cluster");
  }
  add_borders(spec, spec.order, borders);
  for (const auto& [view, order] : spec.views) {
    if (const std::int64_t product = product_of(spec, order, devices); product != devices) {
      throw InputError(spec.where, "strategy.mesh.views." + view,
                       "the view has " + devices_text(product, devices) + " devices",
                       "a product of " + std::to_string(devices));
    }
    add_borders(spec, order, borders);
  }

  std::map<std::int64_t, Atom> atom_at;  // by stride
  for (auto border = borders.begin(); std::next(border) != borders.end(); ++border) {
    const std::int64_t next = *std::next(border);
    if (next % *border != 0) {
      throw InputError(spec.where, "strategy.mesh.views",
                       "axes that end at " + std::to_string(*border) + " and " + std::to_string(next) +
                           " devices have no common refinement",
                       "sizes of which one divides the other");
    }
    atom_at[*border] = static_cast<Atom>(sizes_.size());
    strides_.push_back(*border);
    sizes_.push_back(next / *border);
  }

  primary_.resize(sizes_.size());
  auto add_axes = [&](const std::vector<std::string>& order, bool primary) {
    std::int64_t stride = 1;
    for (const std::string& axis : order) {
      const std::int64_t end = stride * spec.sizes.at(axis);
      std::vector<Atom> atoms;
      while (stride < end) {
        const Atom atom = atom_at.at(stride);
        atoms.push_back(atom);
        if (primary) primary_[atom] = axis;
        stride *= sizes_[atom];
      }
      auto [entry, fresh] = axes_.emplace(axis, atoms);
      if (!fresh && entry->second != atoms) {
        throw InputError(spec.where, "strategy.mesh.views", "axis `" + axis + "` lies elsewhere in another view",
                         "another name");
      }
    }
  };
  add_axes(spec.order, true);
  for (const auto& [view, order] : spec.views) add_axes(order, false);
  for (const auto& [group, members] : spec.groups) {
    std::vector<Atom> atoms;
    for (const std::string& axis : members) {
      auto found = axes_.find(axis);
      if (found == axes_.end()) {
        throw InputError(spec.where, "strategy.mesh.groups." + group, "unknown axis `" + axis + "`",
                         "an axis of the mesh");
      }
      atoms.insert(atoms.end(), found->second.begin(), found->second.end());
    }
    if (!axes_.emplace(group, atoms).second) {
      throw InputError(spec.where, "strategy.mesh.groups." + group, "the name is an axis already", "another name");
    }
  }
}

std::int64_t Mesh::axis_size(const std::string& name) const {
  std::int64_t product = 1;
  for (Atom atom : axis(name)) product *= size(atom);
  return product;
}

std::string Mesh::name_of(const std::vector<Atom>& atoms) const {
  for (const auto& [name, members] : axes_) {
    if (members == atoms) return name;
  }
  std::string joined;
  std::string last;
  for (Atom atom : atoms) {
    if (primary_[atom] == last) continue;
    last = primary_[atom];
    joined += (joined.empty() ? "" : "*") + last;
  }
  return joined;
}

}  // namespace proteus::strategy
