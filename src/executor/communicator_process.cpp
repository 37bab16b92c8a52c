// SPDX-License-Identifier: Apache-2.0
#include "communicator_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "messages.hpp"
#include "object_name.hpp"
#include "proteus/base/error.hpp"
#include "wait_places.hpp"

namespace proteus::executor {

CommunicatorProcess::CommunicatorProcess(std::shared_ptr<const Tables> tables, std::uint32_t object)
    : tables_(std::move(tables)),
      object_(object),
      where_(tables_->objects->communicator(object)),
      placement_(tables_->placement(object)),
      domains_(tables_->domains(object)),
      members_(tables_->members(object)),
      lanes_(*tables_, where_.group, members_) {}

void CommunicatorProcess::handle(const engine::Event& event, engine::Scheduler& scheduler) {
  switch (static_cast<EventKind>(event.kind)) {
    case EventKind::arrived: {
      Rendezvous& rendezvous = lanes_.at(static_cast<graph::Stream>(event.instance));
      std::uint32_t collective = payload_collective(event.payload);
      std::int64_t launched = event.time_ps - tables_->price(collective, placement_, true).leg_ps;
      if (rendezvous.arrive(event.member, static_cast<graph::Stream>(payload_small(event.payload)), collective,
                            launched)) {
        begin(rendezvous, event.time_ps, scheduler);
      }
      return;
    }
    case EventKind::transferred: {
      Rendezvous& rendezvous = lanes_.at(static_cast<graph::Stream>(event.instance));
      const Price& price = tables_->price(rendezvous.collective(), placement_, true);
      end(rendezvous, event.time_ps + std::max(price.leg_ps, price.latency_ps - 3 * price.leg_ps), scheduler);
      return;
    }
    case EventKind::offered: {
      SpreadTransfer* transfer = spread_numbered(event.instance);
      // It may have ended while the news was under way.
      if (transfer != nullptr && transfer->offer(event.member, std::bit_cast<double>(event.payload), event.time_ps)) {
        scheduler.schedule(make_event(event.time_ps, EventKind::agree, object_, event.instance, 0, 0));
      }
      return;
    }
    case EventKind::agree: {
      // It may end in the instant of an offer.
      SpreadTransfer* transfer = spread_numbered(event.instance);
      if (transfer != nullptr) agree(*transfer, event.time_ps, scheduler);
      return;
    }
    case EventKind::moved: {
      const SpreadTransfer* transfer = spread_numbered(event.instance);
      if (transfer != nullptr && transfer->version() == event.member) moved(*transfer, event.time_ps, scheduler);
      return;
    }
    default:
      throw SimulationError(fmt::format("a communicator got an event of kind {}", event.kind));
  }
}

void CommunicatorProcess::begin(Rendezvous& rendezvous, std::int64_t now, engine::Scheduler& scheduler) {
  const Price& price = tables_->price(rendezvous.collective(), placement_, true);
  if (price.network && tables_->spreads(object_)) {
    spread(rendezvous, price, now, scheduler);
    return;
  }
  if (price.network && !domains_.empty()) {
    scheduler.send(make_event(now + price.leg_ps, EventKind::transfer, domains_.front(),
                              static_cast<std::uint32_t>(rendezvous.lane()), object_,
                              pack_payload(rendezvous.collective(), pack_transfer(rendezvous.beside_compute(), 0))));
    return;
  }
  // Nothing can change its end any more, so that the news may go out ahead of its time.
  std::int64_t rest = std::max(price.leg_ps, price.latency_ps - price.leg_ps);
  end(rendezvous, now + rest + price.transfer(rendezvous.beside_compute()), scheduler);
}

void CommunicatorProcess::spread(Rendezvous& rendezvous, const Price& price, std::int64_t now,
                                 engine::Scheduler& scheduler) {
  const auto lane = static_cast<std::uint32_t>(rendezvous.lane());
  const std::uint32_t collective = rendezvous.collective();
  const bool beside = rendezvous.beside_compute();
  const double busiest = busiest_nic(*tables_, object_, tables_->job.collectives[collective].kind);
  const Demand wanted = demand(*tables_, object_, collective, beside, busiest);
  spreads_.emplace_back(++spread_count_, rendezvous.lane(), domains_, wanted, price.leg_ps);
  for (std::uint32_t domain : domains_) {
    scheduler.send(make_event(now + price.leg_ps, EventKind::transfer, domain, lane, object_,
                              pack_payload(collective, pack_transfer(beside, spread_count_))));
  }
}

SpreadTransfer* CommunicatorProcess::spread_numbered(std::uint32_t number) {
  const auto found = std::ranges::find(spreads_, number, &SpreadTransfer::number);
  return found == spreads_.end() ? nullptr : &*found;
}

void CommunicatorProcess::agree(SpreadTransfer& transfer, std::int64_t now, engine::Scheduler& scheduler) {
  const std::uint32_t version = transfer.version();
  for (const auto& [domain, cap] : transfer.agree(now)) {
    scheduler.send(make_event(now + transfer.leg_ps(), EventKind::granted, domain,
                              static_cast<std::uint32_t>(transfer.lane()), object_, std::bit_cast<std::uint64_t>(cap)));
  }
  if (transfer.version() == version || transfer.end_ps() == never) return;
  scheduler.schedule(
      make_event(transfer.end_ps(), EventKind::moved, object_, transfer.number(), transfer.version(), 0));
}

void CommunicatorProcess::moved(const SpreadTransfer& transfer, std::int64_t now, engine::Scheduler& scheduler) {
  Rendezvous& rendezvous = lanes_.at(transfer.lane());
  const Price& price = tables_->price(rendezvous.collective(), placement_, true);
  for (std::uint32_t domain : domains_) {
    scheduler.send(make_event(now + price.leg_ps, EventKind::released, domain,
                              static_cast<std::uint32_t>(transfer.lane()), object_, 0));
  }
  spreads_.erase(spreads_.begin() + (&transfer - spreads_.data()));
  end(rendezvous, now + std::max(price.leg_ps, price.latency_ps - 3 * price.leg_ps), scheduler);
}

engine::Promise CommunicatorProcess::promise() const {
  // All that it talks to is on its rank.
  if (!tables_->open()[object_]) return {Time::infinity(), Time::infinity()};
  std::int64_t earliest = never;
  for (const SpreadTransfer& transfer : spreads_) earliest = std::min(earliest, transfer.promise_ps());
  return {earliest == never ? Time::infinity() : Time::picoseconds(earliest), Time::infinity()};
}

void CommunicatorProcess::end(Rendezvous& rendezvous, std::int64_t time_ps, engine::Scheduler& scheduler) {
  const auto& objects = *tables_->objects;
  for (std::int64_t member = 0; member < members_.count(); ++member) {
    std::int64_t device = members_.device(member);
    std::uint32_t island = objects.island_of(device);
    auto stream = static_cast<std::uint32_t>(rendezvous.stream_of(static_cast<std::uint32_t>(member)));
    scheduler.send(make_event(time_ps, EventKind::collective_ended, island, stream,
                              static_cast<std::uint32_t>(device - objects.first_device(island)),
                              static_cast<std::uint64_t>(rendezvous.last_arrival_ps())));
  }
  rendezvous.end();
  ++collectives_;
}

bool CommunicatorProcess::finished() const {
  return std::all_of(lanes_.all().begin(), lanes_.all().end(), [](const Rendezvous& r) { return r.idle(); });
}

void CommunicatorProcess::report(Result& result) const {
  const auto copies = tables_->options.folding ? tables_->options.folding->copies(object_) : 1;
  result.collectives += static_cast<std::uint64_t>(copies) * collectives_;
}

std::vector<std::string> CommunicatorProcess::blocked() const {
  std::vector<std::string> lines;
  for (const Rendezvous& rendezvous : lanes_.all()) {
    if (!rendezvous.idle()) lines.push_back(rendezvous.describe());
  }
  return lines;
}

engine::WaitLink CommunicatorProcess::wait_at(std::uint64_t place) const {
  return lanes_.waits_for(PlaceOfWait::unpack(place).stream);
}

std::string CommunicatorProcess::name() const { return object_name(tables_->job, *tables_->objects, object_); }

}  // namespace proteus::executor
