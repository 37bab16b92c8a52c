// SPDX-License-Identifier: Apache-2.0
#include "rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proteus/base/error.hpp"
#include "wait_places.hpp"

namespace proteus::executor {
namespace {

/// Whether NCCL would take the two for one collective.
bool match(const graph::CollectiveUse& a, const graph::CollectiveUse& b) {
  return a.family == b.family && a.kind == b.kind && a.size == b.size && a.type == b.type;
}

}  // namespace

Rendezvous::Rendezvous(const Tables& tables, std::int64_t group, const Members& members, graph::Stream lane)
    : tables_(&tables),
      members_(members),
      group_(group),
      lane_(lane),
      streams_(static_cast<std::size_t>(members.count()), absent) {}

bool Rendezvous::arrive(std::uint32_t member, graph::Stream stream, std::uint32_t collective, std::int64_t time_ps) {
  const auto& uses = tables_->job.collectives;
  if (streams_[member] != absent) {
    throw SimulationError(fmt::format("device {} calls {} while its last collective there is under way",
                                      members_.device(member), tables_->describe(collective, group_)));
  }
  if (arrived_ == 0) {
    collective_ = collective;
    first_member_ = member;
    beside_compute_ = false;
    last_arrival_ps_ = time_ps;
  } else if (collective != collective_ && !match(uses[collective], uses[collective_])) {
    throw SimulationError(fmt::format("device {} calls {} where device {} calls {}", members_.device(member),
                                      tables_->describe(collective, group_), members_.device(first_member_),
                                      tables_->describe(collective_, group_)));
  }
  // Members may differ in what they run beside it and what they count it as; the order of arrivals must not tell.
  collective_ = std::min(collective_, collective);
  beside_compute_ = beside_compute_ || uses[collective].beside_compute;
  streams_[member] = static_cast<std::uint8_t>(stream);
  last_arrival_ps_ = std::max(last_arrival_ps_, time_ps);
  return ++arrived_ == streams_.size();
}

void Rendezvous::end() {
  std::fill(streams_.begin(), streams_.end(), absent);
  arrived_ = 0;
}

std::string Rendezvous::describe() const {
  std::string missing;
  constexpr int most = 8;
  int count = 0;
  for (std::uint32_t member = 0; member < streams_.size(); ++member) {
    if (has_arrived(member)) continue;
    if (++count > most) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", members_.device(member));
  }
  if (count > most) missing += fmt::format(" and {} more", count - most);
  std::string text =
      fmt::format("{} has {} of {} members", tables_->describe(collective_, group_), arrived_, streams_.size());
  if (count > 0) text += fmt::format(", waits for device{} {}", count > 1 ? "s" : "", missing);
  return text;
}

engine::WaitLink Rendezvous::waits_for() const {
  if (!waiting()) return {"", "whose members are all there, but its data does not move", "", std::nullopt};
  std::uint32_t first = 0;
  while (has_arrived(first)) ++first;
  const std::size_t more = streams_.size() - arrived_ - 1;
  const graph::CollectiveUse& use = tables_->job.collectives[collective_];
  const bool one_way = use.kind == cost::Collective::send_receive;
  const std::int64_t device = members_.device(first);
  const auto& objects = *tables_->objects;
  const std::uint32_t island = objects.island_of(device);
  const PlaceOfWait call{PlaceOfWait::Kind::call, use.family,
                         static_cast<std::uint32_t>(device - objects.first_device(island)), lane_};
  return {"",
          fmt::format("{} device {}{}",
                      !one_way     ? "for"
                      : first == 0 ? "from"
                                   : "to",
                      device, more > 0 ? fmt::format(" and {} more", more) : ""),
          "", engine::WaitPlace{island, call.pack()}};
}

engine::WaitLink Lanes::waits_for(graph::Stream lane) const {
  const auto found = std::ranges::find(lanes_, lane, &Rendezvous::lane);
  return found == lanes_.end() ? engine::WaitLink{} : found->waits_for();
}

Rendezvous& Lanes::at(graph::Stream lane) {
  auto found = std::find_if(lanes_.begin(), lanes_.end(), [lane](const Rendezvous& r) { return r.lane() == lane; });
  if (found != lanes_.end()) return *found;
  return lanes_.emplace_back(*tables_, group_, members_, lane);
}

}  // namespace proteus::executor
