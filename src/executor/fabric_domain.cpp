// SPDX-License-Identifier: Apache-2.0
#include "fabric_domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "messages.hpp"
#include "object_name.hpp"
#include "proteus/base/error.hpp"

namespace proteus::executor {

namespace {

std::uint64_t key_of(const engine::Event& event) {
  return std::uint64_t{event.member} * graph::stream_count + event.instance;
}

}  // namespace

FabricDomain::FabricDomain(std::shared_ptr<const Tables> tables, std::uint32_t object)
    : tables_(std::move(tables)), object_(object), network_(make_network()) {}

FluidNetwork FabricDomain::make_network() {
  const auto links =
      tables_->options.folding ? tables_->options.folding->links(object_) : tables_->objects->links_of(object_);
  links_.assign(links.begin(), links.end());
  std::vector<double> capacities;
  for (std::uint32_t link : links_) capacities.push_back(tables_->objects->links().capacity(link).value);
  return {std::move(capacities), tables_->options.network};
}

const FabricDomain::Footprint& FabricDomain::footprint(std::uint32_t communicator, cost::Collective kind) {
  auto [entry, is_new] = footprints_.try_emplace({communicator, kind});
  if (is_new) {
    entry->second = {busiest_nic(*tables_, communicator, kind),
                     uses_in_domain(*tables_, communicator, object_, kind, links_)};
  }
  return entry->second;
}

void FabricDomain::handle(const engine::Event& event, engine::Scheduler& scheduler) {
  switch (static_cast<EventKind>(event.kind)) {
    case EventKind::transfer:
      begin(event, scheduler);
      return;
    case EventKind::completion:
      if (event.instance == version_) finish(scheduler);
      return;
    case EventKind::granted:
      grant(event, scheduler);
      return;
    case EventKind::released:
      network_.remove(key_of(event));
      spreads_.erase(key_of(event));
      solve_at_end_of_instant(scheduler);
      return;
    case EventKind::solve:
      solving_ = false;
      network_.solve(event.time_ps);
      make_offers(scheduler);
      watch(scheduler);
      return;
    default:
      throw SimulationError(fmt::format("a fabric domain got an event of kind {}", event.kind));
  }
}

bool FabricDomain::on_nics(const Footprint& print) const {
  return std::ranges::all_of(
      print.uses, [this](const FluidNetwork::Use& use) { return tables_->objects->links().is_nic(links_[use.link]); });
}

void FabricDomain::begin(const engine::Event& event, engine::Scheduler& scheduler) {
  const std::uint32_t collective = payload_collective(event.payload);
  const Footprint& print = footprint(event.member, tables_->job.collectives[collective].kind);
  const Demand wanted =
      demand(*tables_, event.member, collective, (payload_small(event.payload) & 1) != 0, print.busiest);
  const Price& price = tables_->price(collective, tables_->placement(event.member), true);
  const std::int64_t leg = price.leg_ps;
  const std::uint64_t key = key_of(event);
  if (tables_->spreads(event.member)) {
    // Its communicator knows when it ends.
    network_.start(key, std::numeric_limits<double>::infinity(), wanted.rate, print.uses, event.time_ps);
    spreads_[key] = {
        event.member,  payload_small(event.payload) >> 1, leg, Tables::follows_ps(price), wanted.rate, wanted.rate, 0,
        on_nics(print)};
  } else {
    network_.start(key, wanted.work, wanted.rate, print.uses, event.time_ps);
    active_[key] = {event.member, event.instance, leg};
  }
  solve_at_end_of_instant(scheduler);
}

void FabricDomain::grant(const engine::Event& event, engine::Scheduler& scheduler) {
  const auto transfer = spreads_.find(key_of(event));
  if (transfer == spreads_.end()) return;
  transfer->second.granted = std::bit_cast<double>(event.payload);
  network_.set_cap(transfer->first, transfer->second.granted, event.time_ps);
  solve_at_end_of_instant(scheduler);
}

void FabricDomain::make_offers(engine::Scheduler& scheduler) {
  for (auto& [key, transfer] : spreads_) {
    const double rate = transfer.granted < transfer.cap ? network_.potential(key, transfer.cap) : network_.rate(key);
    if (std::abs(rate - transfer.offered) <= rate_tolerance * transfer.offered) continue;
    const std::int64_t way = transfer.offered > 0 ? transfer.follows_ps : transfer.leg_ps;
    transfer.offered = rate;
    scheduler.send(make_event(scheduler.now().ps() + way, EventKind::offered, transfer.communicator, transfer.number,
                              object_, std::bit_cast<std::uint64_t>(rate)));
  }
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

engine::Promise FabricDomain::promise() const {
  // In the middle of an instant its changes are not in the rates yet.
  const std::int64_t change = solving_ ? instant_ps_ : network_.next_ps();
  std::int64_t at = never;
  std::int64_t after = never;
  bool nodes_answer = false;
  for (const auto& [key, transfer] : active_) {
    if (!tables_->open()[transfer.communicator]) continue;
    if (change != never) at = std::min(at, change + transfer.leg_ps);
    after = std::min(after, transfer.leg_ps);
  }
  for (const auto& [key, transfer] : spreads_) {
    if (!tables_->open()[transfer.communicator]) continue;
    const std::int64_t way = transfer.offered > 0 ? transfer.follows_ps : transfer.leg_ps;
    // The end of another transfer gives it more, unless it has all that it can take.
    const bool full = transfer.offered >= transfer.cap * (1 - rate_tolerance);
    if (change != never && (solving_ || !full)) at = std::min(at, change + way);
    // What starts on its NICs is for their nodes to promise; on links that nodes share it may start anywhere.
    if (transfer.on_nics) {
      nodes_answer = true;
    } else {
      after = std::min(after, way);
    }
  }
  const auto time = [](std::int64_t ps) { return ps == never ? Time::infinity() : Time::picoseconds(ps); };
  return {time(at), time(after), nodes_answer};
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

std::string FabricDomain::name() const { return object_name(tables_->job, *tables_->objects, object_); }

}  // namespace proteus::executor
