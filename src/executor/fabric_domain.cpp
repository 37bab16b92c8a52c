// SPDX-License-Identifier: Apache-2.0
#include "fabric_domain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "messages.hpp"
#include "proteus/base/error.hpp"

namespace proteus::executor {

FabricDomain::FabricDomain(std::shared_ptr<const Tables> tables, std::uint32_t object)
    : tables_(std::move(tables)), object_(object), network_(make_network()) {}

FluidNetwork FabricDomain::make_network() {
  const auto& objects = *tables_->objects;
  const auto& links = objects.links();
  if (tables_->options.folding) {
    const auto folded = tables_->options.folding->links(object_);
    links_.assign(folded.begin(), folded.end());
    return network_of(links_);
  }
  for (std::uint32_t communicator : objects.communicators_of(object_)) {
    const auto& where = objects.communicator(communicator);
    std::vector<cost::Collective> kinds;
    for (std::uint32_t use : objects.uses(where.family)) {
      cost::Collective kind = tables_->job.collectives[use].kind;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
    for (cost::Collective kind : kinds) {
      for (const auto& use : links.uses(tables_->job.families[where.family], where.group, kind)) {
        links_.push_back(use.link);
      }
    }
  }
  std::sort(links_.begin(), links_.end());
  links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
  return network_of(links_);
}

FluidNetwork FabricDomain::network_of(const std::vector<std::uint32_t>& links) const {
  std::vector<double> capacities;
  for (std::uint32_t link : links) capacities.push_back(tables_->objects->links().capacity(link).value);
  return {std::move(capacities), tables_->options.network};
}

const FabricDomain::Footprint& FabricDomain::footprint(std::uint32_t communicator, cost::Collective kind) {
  auto [entry, is_new] = footprints_.try_emplace({communicator, kind});
  Footprint& result = entry->second;
  if (!is_new) return result;
  const auto& where = tables_->objects->communicator(communicator);
  const auto& links = tables_->objects->links();
  std::vector<Folding::LinkUse> uses;
  if (tables_->options.folding) {
    const auto folded = tables_->options.folding->uses(communicator, kind);
    uses.assign(folded.begin(), folded.end());
  } else {
    for (const auto& use : links.uses(tables_->job.families[where.family], where.group, kind)) {
      uses.push_back({use.link, communicator, use.weight});
    }
  }
  for (const auto& use : uses) {
    if (links.is_nic(use.link)) result.busiest = std::max(result.busiest, use.weight);
  }
  for (const auto& use : uses) {
    auto place = std::lower_bound(links_.begin(), links_.end(), use.link);
    result.uses.push_back(
        {static_cast<std::uint32_t>(place - links_.begin()), use.weight / result.busiest, use.communicator});
  }
  return result;
}

void FabricDomain::handle(const engine::Event& event, engine::Scheduler& scheduler) {
  switch (static_cast<EventKind>(event.kind)) {
    case EventKind::transfer:
      begin(event, scheduler);
      return;
    case EventKind::completion:
      if (event.instance == version_) finish(scheduler);
      return;
    case EventKind::solve:
      solving_ = false;
      network_.solve(event.time_ps);
      watch(scheduler);
      return;
    default:
      throw SimulationError(fmt::format("a fabric domain got an event of kind {}", event.kind));
  }
}

void FabricDomain::begin(const engine::Event& event, engine::Scheduler& scheduler) {
  std::uint32_t collective = payload_collective(event.payload);
  bool beside_compute = payload_small(event.payload) != 0;
  const graph::CollectiveUse& use = tables_->job.collectives[collective];
  const Price& price = tables_->price(collective, tables_->placement(event.member), true);
  const Footprint& print = footprint(event.member, use.kind);
  // In bytes on the busiest NIC, so that collectives share a NIC by bytes, as their packets do. Alone a collective
  // runs at its price, whatever the nominal rate of the NIC.
  double nic = tables_->cluster.node.nic_bandwidth.value;
  double weight = price.nic_bytes * std::max(1.0, print.busiest);
  if (nic > 0) weight = std::min(weight, nic / price.bandwidth);
  double rate = price.bandwidth / (beside_compute ? tables_->job.comm_slowdown : 1);
  std::uint64_t key = std::uint64_t{event.member} * graph::stream_count + event.instance;
  network_.start(key, static_cast<double>(use.size.value) * weight, rate * weight, print.uses, event.time_ps);
  active_[key] = {event.member, event.instance, price.leg_ps};
  solve_at_end_of_instant(scheduler);
}

void FabricDomain::solve_at_end_of_instant(engine::Scheduler& scheduler) {
  if (solving_) return;
  solving_ = true;
  instant_ps_ = scheduler.now().ps();
  scheduler.schedule(make_event(instant_ps_, EventKind::solve, object_, 0, 0, 0));
}

void FabricDomain::finish(engine::Scheduler& scheduler) {
  const std::int64_t now = scheduler.now().ps();
  for (std::uint64_t key : network_.finish(now)) {
    auto done = active_.find(key);
    const Active& transfer = done->second;
    scheduler.send(
        make_event(now + transfer.leg_ps, EventKind::transferred, transfer.communicator, transfer.lane, 0, 0));
    active_.erase(done);
  }
  watched_ps_ = never;
  solve_at_end_of_instant(scheduler);
}

void FabricDomain::watch(engine::Scheduler& scheduler) {
  std::int64_t next = network_.next_ps();
  if (next == watched_ps_) return;
  watched_ps_ = next;
  ++version_;
  if (next == never) return;
  scheduler.schedule(make_event(next, EventKind::completion, object_, version_, 0, 0));
}

Time FabricDomain::promise() const {
  std::int64_t leg = never;
  for (const auto& [key, transfer] : active_) leg = std::min(leg, transfer.leg_ps);
  if (leg == never) return Time::infinity();
  // In the middle of an instant its changes are not in the rates yet.
  std::int64_t next = solving_ ? instant_ps_ : network_.next_ps();
  return next == never ? Time::infinity() : Time::picoseconds(next + leg);
}

std::vector<std::string> FabricDomain::blocked() const {
  std::vector<std::string> lines;
  for (const auto& [key, transfer] : active_) {
    const auto& where = tables_->objects->communicator(transfer.communicator);
    lines.push_back(fmt::format("a transfer of communicator {} #{} moves at {} B/s",
                                tables_->job.families[where.family].name, where.group, network_.rate(key)));
  }
  return lines;
}

std::string FabricDomain::name() const {
  return fmt::format("fabric domain {}", object_ - tables_->objects->first_domain());
}

}  // namespace proteus::executor
