// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "proteus/executor/folding.hpp"

namespace proteus::executor {

/// Colour refinement over the islands, the communicators between them and the links that these load. Two vertices get
/// one colour where they start alike and have as many neighbours of every colour, at the same ports. A colour is the
/// hash of what it stands for, 128 bits wide.
class Refinement {
 public:
  struct FabricUse {
    cost::Collective kind{};
    std::vector<partition::FabricLinks::Use> links;
  };

  Refinement(const graph::Job& job, const partition::Objects& objects, const Options& options, FoldMode mode);

  /// Class of each vertex, numbered by first appearance: islands and communicators in object order, links by number.
  const std::vector<std::uint32_t>& islands() const { return islands_; }
  const std::vector<std::uint32_t>& communicators() const { return communicators_; }
  const std::vector<std::uint32_t>& links() const { return links_; }

  /// The folded domain that a link is in: a number, the same for all links of its class and for what its communicators
  /// connect there.
  std::uint32_t domain(std::uint32_t link) const { return joined_[links_[link]]; }

  /// What a communicator (index, not object) loads, by kind of collective.
  const std::vector<FabricUse>& uses(std::size_t communicator) const { return uses_[communicator]; }

 private:
  void start(const Options& options);
  bool refine();
  void refine_communicators();
  void refine_islands();
  void refine_links();
  /// Joins link classes that lie in one domain somewhere.
  void join_links();
  /// Where a communicator meets in one folded domain what it meets in several, or elsewhere, folding would let it hear
  /// sooner: such domains are set apart. False where there are none.
  bool set_domains_apart();
  /// Numbers equal hashes alike; returns how many there are.
  static std::size_t number(const std::vector<FactHash>& hashes, std::vector<std::uint32_t>& classes);

  const graph::Job& job_;
  const partition::Objects& objects_;
  FoldMode mode_;
  std::vector<std::vector<FabricUse>> uses_;
  std::vector<std::uint32_t> islands_;
  std::vector<std::uint32_t> communicators_;
  std::vector<std::uint32_t> links_;
  std::vector<std::uint32_t> joined_;  ///< by link class
  std::vector<bool> apart_;            ///< by domain
  std::size_t island_classes_ = 0;
  std::size_t communicator_classes_ = 0;
  std::size_t link_classes_ = 0;
};

}  // namespace proteus::executor
