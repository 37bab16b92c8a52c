// SPDX-License-Identifier: Apache-2.0
#include "communicator_process.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "messages.hpp"
#include "proteus/base/error.hpp"

namespace proteus::executor {

CommunicatorProcess::CommunicatorProcess(std::shared_ptr<const Tables> tables, std::uint32_t object)
    : tables_(std::move(tables)),
      object_(object),
      where_(tables_->objects->communicator(object)),
      placement_(tables_->placement(object)),
      domain_(tables_->domain(object)),
      members_(tables_->members(object)),
      lanes_(*tables_, where_.group, members_) {}

void CommunicatorProcess::handle(const engine::Event& event, engine::Scheduler& scheduler) {
  Rendezvous& rendezvous = lanes_.at(static_cast<graph::Stream>(event.instance));
  switch (static_cast<EventKind>(event.kind)) {
    case EventKind::arrived: {
      std::uint32_t collective = payload_collective(event.payload);
      std::int64_t launched = event.time_ps - tables_->price(collective, placement_, true).leg_ps;
      if (rendezvous.arrive(event.member, static_cast<graph::Stream>(payload_small(event.payload)), collective,
                            launched)) {
        begin(rendezvous, event.time_ps, scheduler);
      }
      return;
    }
    case EventKind::transferred: {
      const Price& price = tables_->price(rendezvous.collective(), placement_, true);
      end(rendezvous, event.time_ps + std::max(price.leg_ps, price.latency_ps - 3 * price.leg_ps), scheduler);
      return;
    }
    default:
      throw SimulationError(fmt::format("a communicator got an event of kind {}", event.kind));
  }
}

void CommunicatorProcess::begin(Rendezvous& rendezvous, std::int64_t now, engine::Scheduler& scheduler) {
  const Price& price = tables_->price(rendezvous.collective(), placement_, true);
  if (price.network && domain_) {
    scheduler.send(make_event(now + price.leg_ps, EventKind::transfer, *domain_,
                              static_cast<std::uint32_t>(rendezvous.lane()), object_,
                              pack_payload(rendezvous.collective(), rendezvous.beside_compute() ? 1 : 0)));
    return;
  }
  // Nothing can change its end any more, so that the news may go out ahead of its time.
  std::int64_t rest = std::max(price.leg_ps, price.latency_ps - price.leg_ps);
  end(rendezvous, now + rest + price.transfer(rendezvous.beside_compute()), scheduler);
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

std::string CommunicatorProcess::name() const {
  return fmt::format("communicator {} #{}", tables_->job.families[where_.family].name, where_.group);
}

}  // namespace proteus::executor
