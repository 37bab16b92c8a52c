// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proteus/cluster/cluster.hpp"
#include "proteus/graph/program.hpp"
#include "proteus/partition/fabric_links.hpp"

namespace proteus::partition {

/// Whether a collective at this price occupies links of the fabric. Scalars, and what moves its bytes in a hundredth
/// of its latency, do not: their time is latency, whatever else the links carry.
bool goes_on_fabric(const graph::CollectiveUse& use, const cost::CollectiveCost& price);

/// Whether traffic stays within one model replica. What it connects is simulated together; replicas meet seldom.
bool inside_replica(graph::Traffic traffic);

/// The logical processes of a job, numbered the same on every rank: islands, then communicators that span islands in
/// (family, group) order, then fabric domains in order of their first communicator. A domain is a set of links that
/// traffic within a replica connects; links that only traffic between replicas uses are joined by that. Families that
/// no program uses have no communicators.
class Objects {
 public:
  /// How a communicator with several domains loads the links of each with collectives of one kind.
  struct Spread {
    cost::Collective kind{};
    double busiest = 0;  ///< largest weight on a NIC, over all domains
    std::vector<std::pair<std::uint32_t, std::vector<FabricLinks::Use>>> parts;  ///< by domain object, ascending
  };

  struct Communicator {
    std::uint32_t family = 0;
    std::int64_t group = 0;
    std::uint32_t placement = 0;  ///< index in placements()
  };

  /// `job` and `cluster` must outlive the object.
  Objects(const graph::Job& job, const cluster::Cluster& cluster);

  std::uint32_t islands() const { return islands_; }
  std::uint32_t communicators() const { return static_cast<std::uint32_t>(communicators_.size()); }
  /// Those of one family.
  std::uint32_t communicators(std::uint32_t family) const {
    return first_of_family_[family + 1] - first_of_family_[family];
  }
  std::uint32_t domains() const { return static_cast<std::uint32_t>(members_.size()); }
  std::uint32_t count() const { return islands() + communicators() + domains(); }

  bool is_island(std::uint32_t object) const { return object < islands_; }
  bool is_communicator(std::uint32_t object) const { return !is_island(object) && object < first_domain(); }
  std::uint32_t first_domain() const { return islands() + communicators(); }

  std::uint32_t island_of(std::int64_t device) const { return static_cast<std::uint32_t>(device / island_size_); }
  /// Half-open range of devices.
  std::int64_t first_device(std::uint32_t island) const { return std::int64_t{island} * island_size_; }
  std::int64_t end_device(std::uint32_t island) const;

  const Communicator& communicator(std::uint32_t object) const { return communicators_[object - islands_]; }
  /// The communicator's object; nothing where the group lies inside an island or is not used.
  std::optional<std::uint32_t> object_of(std::uint32_t family, std::int64_t group) const;
  /// Objects of the domains whose links the communicator loads, ascending: none where its collectives do not go on the
  /// fabric, one for traffic within a replica.
  std::span<const std::uint32_t> domains_of(std::uint32_t communicator_object) const;
  /// Links of a domain, ascending.
  std::span<const std::uint32_t> links_of(std::uint32_t domain_object) const {
    return domain_links_[domain_object - first_domain()];
  }
  /// Empty where the communicator has at most one domain.
  std::span<const Spread> spreads_of(std::uint32_t communicator_object) const;
  /// Whether its traffic connects the links that it loads: some of it stays within a replica.
  bool joins_domain(std::uint32_t communicator_object) const;
  /// The domain of a link; nothing where no communicator loads it.
  std::optional<std::uint32_t> domain_of_link(std::uint32_t link) const;
  /// Kinds of collectives of this communicator that go on the fabric, each once.
  std::vector<cost::Collective> fabric_kinds(std::uint32_t communicator_object) const;
  /// Communicators of a domain, ascending.
  std::span<const std::uint32_t> communicators_of(std::uint32_t domain_object) const {
    return members_[domain_object - first_domain()];
  }

  /// Whether any program runs an op of this family.
  bool used(std::uint32_t family) const { return !uses_[family].empty(); }
  /// Collectives of this family that some program runs, ascending.
  std::span<const std::uint32_t> uses(std::uint32_t family) const { return uses_[family]; }
  /// All placements that collectives have a price for, ascending.
  const std::vector<cost::Placement>& placements() const { return placements_; }
  /// Index in placements(); throws SimulationError where no collective of the job has a price for it.
  std::uint32_t placement_index(std::uint32_t family, std::int64_t group) const;

  const FabricLinks& links() const { return links_; }

 private:
  void find_uses();
  void number_communicators();
  using Loads = std::vector<std::vector<std::pair<cost::Collective, std::vector<FabricLinks::Use>>>>;
  void find_domains();
  void number_domains(const Loads& loads, std::vector<std::uint32_t>& parents);
  Spread spread(cost::Collective kind, const std::vector<FabricLinks::Use>& uses) const;

  const graph::Job& job_;
  int gpus_per_node_ = 1;
  int island_size_ = 1;
  std::uint32_t islands_ = 0;
  FabricLinks links_;
  std::vector<std::vector<std::uint32_t>> uses_;  ///< by family
  std::vector<cost::Placement> placements_;
  std::vector<Communicator> communicators_;
  std::vector<std::uint32_t> first_of_family_;   ///< index in communicators_, one more than there are families
  std::vector<std::uint32_t> domains_;           ///< objects, of all communicators one after the other
  std::vector<std::uint32_t> first_of_domains_;  ///< by communicator, one more than there are
  std::vector<std::vector<std::uint32_t>> domain_links_;
  std::vector<std::uint32_t> link_domain_;  ///< by link, its number among domains; no_domain where it has none
  std::map<std::uint32_t, std::vector<Spread>> spreads_;  ///< by communicator object
  std::vector<std::vector<std::uint32_t>> members_;       ///< by domain: its communicators' objects
};

}  // namespace proteus::partition
