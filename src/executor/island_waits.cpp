// SPDX-License-Identifier: Apache-2.0
// What an island says of a deadlock.
#include <fmt/format.h>

#include "island.hpp"
#include "wait_places.hpp"

namespace proteus::executor {

std::vector<std::string> Island::blocked() const {
  std::vector<std::string> lines;
  for (const Device& device : devices_) {
    for (std::string& line : device.blocked()) lines.push_back(std::move(line));
  }
  for (const Group& group : groups_) {
    for (const Rendezvous& rendezvous : group.lanes.all()) {
      if (!rendezvous.idle()) lines.push_back(rendezvous.describe());
    }
  }
  return lines;
}

std::optional<std::uint64_t> Island::first_wait() const {
  for (std::uint32_t index = 0; index < devices_.size(); ++index) {
    for (graph::Stream stream : every_stream) {
      if (devices_[index].has_work(stream)) return PlaceOfWait{PlaceOfWait::Kind::stream, 0, index, stream}.pack();
    }
  }
  return std::nullopt;
}

engine::WaitLink Island::wait_at(std::uint64_t place) const {
  const PlaceOfWait where = PlaceOfWait::unpack(place);
  switch (where.kind) {
    case PlaceOfWait::Kind::stream:
      return stream_waits(where.index, where.stream);
    case PlaceOfWait::Kind::rendezvous:
      return groups_.at(where.index).lanes.waits_for(where.stream);
    case PlaceOfWait::Kind::call:
      return call_waits(where.index, where.family, where.stream);
  }
  return {};
}

engine::WaitLink Island::stream_waits(std::uint32_t index, graph::Stream stream) const {
  const Device& device = devices_.at(index);
  const std::string who = fmt::format("{}, {}", tables_->describe_device(device.id()), graph::name_of(stream));
  if (!device.has_work(stream)) return {who, "has ended", "", std::nullopt};
  const std::string head = device.describe_head(stream);
  if (!device.in_flight(stream)) {
    const Device::Held held = device.held_by(stream);
    engine::WaitLink link{who, head + " " + held.why, "", std::nullopt};
    if (held.by) {
      link.next = engine::WaitPlace{object_, PlaceOfWait{PlaceOfWait::Kind::stream, 0, index, *held.by}.pack()};
    }
    return link;
  }
  const std::uint32_t collective = device.head_collective(stream);
  const graph::CollectiveUse& use = tables_->job.collectives[collective];
  const std::int64_t group = tables_->job.families[use.family].locate(device.id())->group;
  const std::string holds = tables_->describe(collective, group);
  std::string what = " waits in " + holds;
  if (use.kind == cost::Collective::send_receive) {
    what = fmt::format(" waits to {} {}", lane_of(stream) == stream ? "send" : "receive",
                       tables_->describe_call(collective, group));
  }
  PlaceOfWait meeting{PlaceOfWait::Kind::rendezvous, 0, 0, lane_of(stream)};
  std::uint32_t object = object_;
  if (auto spanning = tables_->objects->object_of(use.family, group)) {
    object = tables_->communicator(*spanning);
  } else {
    meeting.index = group_index(use.family, group);
  }
  return {who, head + what, holds, engine::WaitPlace{object, meeting.pack()}};
}

engine::WaitLink Island::call_waits(std::uint32_t index, std::uint32_t family, graph::Stream lane) const {
  const Device& device = devices_.at(index);
  for (graph::Stream stream : every_stream) {
    if (lane_of(stream) != lane || !device.will_call(stream, family)) continue;
    // It is on its way there.
    return {"", "", "", engine::WaitPlace{object_, PlaceOfWait{PlaceOfWait::Kind::stream, 0, index, stream}.pack()}};
  }
  const auto& communicators = tables_->job.families[family];
  const auto place = communicators.locate(device.id());
  return {
      tables_->describe_device(device.id()),
      fmt::format("calls nothing on {}{} any more{}", communicators.name,
                  place ? fmt::format(" #{}", place->group) : "", device.finished() ? ": all its ops have ended" : ""),
      "", std::nullopt};
}

}  // namespace proteus::executor
