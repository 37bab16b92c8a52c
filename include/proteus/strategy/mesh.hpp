// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proteus/strategy/strategy.hpp"

namespace proteus::strategy {

/// Number of an atom: a factor of the device number that no view divides further.
using Atom = std::uint16_t;

/// The devices of a job in named axes. All views of the same devices compile to their common refinement: the atoms. An
/// axis is an ordered list of atoms, first varies fastest; layouts, resharding and communicators use atoms only.
class Mesh {
 public:
  /// Throws InputError where an axis is unknown or has no size, the product is not `devices`, or two views have no
  /// common refinement.
  Mesh(const MeshSpec& spec, std::int64_t devices);

  std::int64_t devices() const { return devices_; }
  Atom atoms() const { return static_cast<Atom>(sizes_.size()); }
  std::int64_t size(Atom atom) const { return sizes_[atom]; }
  std::int64_t stride(Atom atom) const { return strides_[atom]; }

  bool has_axis(const std::string& axis) const { return axes_.contains(axis); }
  /// Atoms of an axis or a group of axes; those of size 1 are left out. Throws std::out_of_range for unknown names.
  const std::vector<Atom>& axis(const std::string& name) const { return axes_.at(name); }
  std::int64_t axis_size(const std::string& name) const;

  /// Names for messages and communicators: the axis that owns exactly these atoms, else the atoms' axes joined by "*".
  std::string name_of(const std::vector<Atom>& atoms) const;

 private:
  std::int64_t devices_ = 1;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> strides_;
  std::map<std::string, std::vector<Atom>> axes_;
  std::vector<std::string> primary_;  ///< name of the main axis that each atom belongs to
};

}  // namespace proteus::strategy
