// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proteus/executor/row_sink.hpp"
#include "proteus/executor/run.hpp"
#include "proteus/partition/assignment.hpp"
#include "proteus/partition/objects.hpp"

namespace proteus::executor {

enum class FoldMode : std::uint8_t {
  exact,   ///< only what has the same surroundings, links and delays included, is the same
  approx,  ///< positions on the fabric do not count: everybody gets the worst of its kind
};

class Refinement;

/// Islands, communicators and links whose surroundings are the same behave the same, so that one of each class stands
/// for all: the coarsest equitable partition of the three by colour refinement (the
/// argument that max-min fair rates respect it is in docs/architecture.md). The first of a class, in object order,
/// represents it.
class Folding {
 public:
  /// `job` must outlive the object. `options`: delays make their devices different. Throws InputError for exact folding
  /// with jitter, under which no device is like another.
  Folding(const graph::Job& job, std::shared_ptr<const partition::Objects> objects, const Options& options,
          FoldMode mode);

  /// What the constructor throws, before there is anything to fold.
  static void check(const Options& options, FoldMode mode);

  FoldMode mode() const { return mode_; }
  /// What approximate folding took for granted of this job; empty where it is exact.
  const std::vector<std::string>& assumptions() const { return assumptions_; }

  std::uint32_t islands() const { return static_cast<std::uint32_t>(island_members_.size()); }
  std::int64_t devices() const { return devices_; }  ///< that are simulated

  /// The object that stands for this island, communicator or domain.
  std::uint32_t representative(std::uint32_t object) const { return representative_[object]; }
  bool simulated(std::uint32_t object) const { return representative_[object] == object; }

  /// Islands that a simulated one stands for, itself included, ascending.
  std::span<const std::uint32_t> islands_of(std::uint32_t island) const { return island_members_.at(island); }
  /// Communicators that a simulated one stands for.
  std::int64_t copies(std::uint32_t communicator) const { return communicators_.at(communicator).copies; }

  /// Simulated devices that meet in a simulated communicator, ascending; each stands for all members like it.
  std::span<const std::int64_t> members(std::uint32_t communicator) const {
    return communicators_.at(communicator).members;
  }
  /// By which placement its collectives are priced.
  std::uint32_t placement(std::uint32_t communicator) const { return communicators_.at(communicator).placement; }
  /// The simulated domains whose links it uses, ascending.
  std::span<const std::uint32_t> domains(std::uint32_t communicator) const {
    return communicators_.at(communicator).domains;
  }

  /// Links that stand for all of a domain, ascending.
  std::span<const std::uint32_t> links(std::uint32_t domain) const { return domain_links_.at(domain); }

  struct LinkUse {
    std::uint32_t link = 0;          ///< a representative
    std::uint32_t communicator = 0;  ///< the copy that loads it
    double weight = 0;               ///< as FabricLinks::Use
  };
  /// How all copies of a simulated communicator load the representative links with collectives of a kind; by link, then
  /// by copy.
  std::span<const LinkUse> uses(std::uint32_t communicator, cost::Collective kind) const;

  /// Deals what is simulated to `ranks`; everything else has no rank.
  partition::Assignment assign(int ranks) const;
  /// Devices of the whole job that `rank` simulates or that have their likeness there, ascending.
  std::vector<std::int64_t> devices_of(const partition::Assignment& assignment, int rank) const;

 private:
  struct Communicator {
    std::int64_t copies = 0;
    std::uint32_t placement = 0;
    std::vector<std::uint32_t> domains;
    std::vector<std::int64_t> members;
    std::map<cost::Collective, std::vector<LinkUse>> uses;
  };
  void take_islands(const Refinement& refinement);
  void take_communicators(const Refinement& refinement);
  void take_links(const Refinement& refinement);
  void join_domains(const Refinement& refinement);

  const graph::Job& job_;
  std::shared_ptr<const partition::Objects> objects_;
  FoldMode mode_;
  std::int64_t devices_ = 0;
  std::vector<std::uint32_t> representative_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> island_members_;
  std::map<std::uint32_t, Communicator> communicators_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> domain_links_;
  std::vector<std::string> assumptions_;
};

/// Hands each row of a simulated device to all devices that it stands for.
class FoldedSink final : public RowSink {
 public:
  /// `sink` takes rows of devices of the whole job, and must outlive this one.
  FoldedSink(const partition::Objects& objects, const Folding& folding, RowSink& sink);

  bool wants(std::int64_t device) const override { return wanted_.contains(device); }
  void record(std::int64_t device, std::int64_t position, Time start, Time duration) override;

 private:
  RowSink& sink_;
  std::map<std::int64_t, std::vector<std::int64_t>> wanted_;  ///< by simulated device
};

}  // namespace proteus::executor
