// SPDX-License-Identifier: Apache-2.0
#include "island.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "messages.hpp"
#include "object_name.hpp"
#include "proteus/base/error.hpp"

namespace proteus::executor {
namespace {

/// Each device's port out and port in.
std::vector<double> port_capacities(const Tables& tables, std::uint32_t object) {
  auto devices = tables.objects->end_device(object) - tables.objects->first_device(object);
  return std::vector<double>(static_cast<std::size_t>(2 * devices), tables.cluster.node.intra_bandwidth.value);
}

}  // namespace

Island::Island(std::shared_ptr<const Tables> tables, std::uint32_t object, RowSink* sink)
    : tables_(std::move(tables)), object_(object), ports_(port_capacities(*tables_, object), tables_->options.network) {
  ledger_.sink = sink;
  ledger_.iteration_end_ps.resize(static_cast<std::size_t>(tables_->job.iterations));
  ledger_.classes.resize(tables_->job.programs.size());
  const auto& objects = *tables_->objects;
  for (std::int64_t id = objects.first_device(object); id < objects.end_device(object); ++id) {
    devices_.emplace_back(*tables_, id, sink != nullptr && sink->wants(id));
    ++ledger_.classes[devices_.back().program_index()].devices;
  }
  polls_.resize(devices_.size());
  find_groups();
}

void Island::find_groups() {
  const auto& families = tables_->job.families;
  for (std::uint32_t f = 0; f < families.size(); ++f) {
    if (!tables_->objects->used(f)) continue;
    std::vector<std::int64_t> inside;
    for (const Device& device : devices_) {
      auto place = families[f].locate(device.id());
      if (place && families[f].inside_island(place->group, tables_->job.island_size)) inside.push_back(place->group);
    }
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    for (std::int64_t group : inside) add_group(f, group);
  }
}

void Island::add_group(std::uint32_t family, std::int64_t number) {
  const auto& f = tables_->job.families[family];
  Group group{
      family, number, tables_->objects->placement_index(family, number), {}, {}, {}, {*tables_, number, {f, number}}};
  for (std::int64_t member = 0; member < f.members(); ++member) {
    group.members.push_back(static_cast<std::uint32_t>(f.device(number, member) - devices_.front().id()));
  }
  for (std::uint32_t device : group.members) {
    group.ports.push_back({2 * device, 1});
    group.ports.push_back({2 * device + 1, 1});
  }
  if (group.members.size() == 2) group.one_way = {{2 * group.members[0], 1}, {2 * group.members[1] + 1, 1}};
  groups_.push_back(std::move(group));
}

std::uint32_t Island::group_index(std::uint32_t family, std::int64_t group) const {
  auto found = std::lower_bound(groups_.begin(), groups_.end(), std::pair(family, group),
                                [](const Group& g, const std::pair<std::uint32_t, std::int64_t>& key) {
                                  return std::tie(g.family, g.group) < std::tie(key.first, key.second);
                                });
  return static_cast<std::uint32_t>(found - groups_.begin());
}

void Island::start(engine::Scheduler& scheduler) {
  for (std::uint32_t device = 0; device < devices_.size(); ++device) advance(device, scheduler);
}

void Island::handle(const engine::Event& event, engine::Scheduler& scheduler) {
  switch (static_cast<EventKind>(event.kind)) {
    case EventKind::poll:
      if (event.instance != polls_[event.member].version) return;
      polls_[event.member].time_ps = never;
      advance(event.member, scheduler);
      return;
    case EventKind::collective_ended:
      devices_[event.member].complete(static_cast<graph::Stream>(event.instance), event.time_ps,
                                      static_cast<std::int64_t>(event.payload), ledger_);
      advance(event.member, scheduler);
      return;
    case EventKind::ports_changed:
      if (event.instance == ports_version_) transfers_ended(scheduler);
      return;
    case EventKind::inner_ended:
      end(event.instance, event.member, scheduler);
      return;
    default:
      throw SimulationError(fmt::format("an island got an event of kind {}", event.kind));
  }
}

void Island::advance(std::uint32_t index, engine::Scheduler& scheduler) {
  Device& device = devices_[index];
  const std::int64_t now = scheduler.now().ps();
  std::int64_t next_issue = never;
  do {
    device.settle(now, ledger_);
    next_issue = never;
    for (graph::Stream stream : every_stream) {
      if (stream == graph::Stream::compute || !device.has_work(stream)) continue;
      auto ready = device.ready_ps(stream);
      if (!ready) continue;
      if (*ready <= now) {
        launch(index, stream, scheduler);
      } else {
        next_issue = std::min(next_issue, *ready);
      }
    }
    device.start_compute(now, ledger_);
  } while (device.run_end_ps() <= now);
  poll(index, std::min(next_issue, device.run_end_ps()), scheduler);
}

void Island::poll(std::uint32_t device, std::int64_t time_ps, engine::Scheduler& scheduler) {
  Poll& outstanding = polls_[device];
  if (outstanding.time_ps == time_ps) return;
  outstanding.time_ps = time_ps;
  ++outstanding.version;
  if (time_ps == never) return;
  scheduler.schedule(make_event(time_ps, EventKind::poll, object_, outstanding.version, device, 0));
}

void Island::launch(std::uint32_t index, graph::Stream stream, engine::Scheduler& scheduler) {
  Device& device = devices_[index];
  const std::uint32_t collective = device.head_collective(stream);
  const std::uint32_t family = tables_->job.collectives[collective].family;
  auto place = tables_->job.families[family].locate(device.id());
  if (!place) {
    throw SimulationError(
        fmt::format("device {} calls {} and is no member", device.id(), tables_->describe(collective, -1)));
  }
  const std::int64_t now = scheduler.now().ps();
  if (auto object = tables_->objects->object_of(family, place->group)) {
    device.launch(stream, now, true, ledger_);
    const std::uint32_t communicator = tables_->communicator(*object);
    const Price& price = tables_->price(collective, tables_->placement(communicator), true);
    scheduler.send(make_event(now + price.leg_ps, EventKind::arrived, communicator,
                              static_cast<std::uint32_t>(lane_of(stream)), member_of(communicator, *place, device.id()),
                              pack_payload(collective, static_cast<std::uint32_t>(stream))));
    return;
  }
  device.launch(stream, now, false, ledger_);
  std::uint32_t group = group_index(family, place->group);
  Rendezvous& rendezvous = groups_[group].lanes.at(lane_of(stream));
  if (rendezvous.arrive(static_cast<std::uint32_t>(place->member), stream, collective, now)) {
    begin(group, rendezvous, scheduler);
  }
}

std::uint32_t Island::member_of(std::uint32_t communicator, const graph::CommunicatorFamily::Place& place,
                                std::int64_t device) const {
  if (!tables_->options.folding) return static_cast<std::uint32_t>(place.member);
  return static_cast<std::uint32_t>(tables_->members(communicator).number_of(device));
}

void Island::begin(std::uint32_t index, Rendezvous& rendezvous, engine::Scheduler& scheduler) {
  const Group& group = groups_[index];
  const graph::CollectiveUse& use = tables_->job.collectives[rendezvous.collective()];
  const Price& price = tables_->price(rendezvous.collective(), group.placement, false);
  const std::int64_t now = scheduler.now().ps();
  const auto lane = static_cast<std::uint32_t>(rendezvous.lane());
  const double port = tables_->cluster.node.intra_bandwidth.value;
  if (!price.network || port <= 0) {
    end_at(now + price.transfer(rendezvous.beside_compute()) + price.latency_ps, index, lane, scheduler);
    return;
  }
  // Alone it runs at its price, even where that is more than the nominal port would give.
  double weight = std::min(price.nvlink_bytes, port / price.bandwidth);
  double rate = price.bandwidth / (rendezvous.beside_compute() ? tables_->job.comm_slowdown : 1);
  const auto& uses = use.kind == cost::Collective::send_receive ? group.one_way : group.ports;
  std::uint64_t key = std::uint64_t{index} * graph::stream_count + lane;
  ports_.start(key, static_cast<double>(use.size.value) * weight, rate * weight, uses, now);
  ports_.solve(now);
  watch_ports(scheduler);
}

void Island::watch_ports(engine::Scheduler& scheduler) {
  std::int64_t next = ports_.next_ps();
  if (next == ports_watched_ps_) return;
  ports_watched_ps_ = next;
  ++ports_version_;
  if (next == never) return;
  scheduler.schedule(make_event(next, EventKind::ports_changed, object_, ports_version_, 0, 0));
}

void Island::transfers_ended(engine::Scheduler& scheduler) {
  const std::int64_t now = scheduler.now().ps();
  auto keys = ports_.finish(now);
  ports_.solve(now);
  for (std::uint64_t key : keys) {
    auto index = static_cast<std::uint32_t>(key / graph::stream_count);
    auto lane = static_cast<std::uint32_t>(key % graph::stream_count);
    Group& group = groups_[index];
    std::uint32_t collective = group.lanes.at(static_cast<graph::Stream>(lane)).collective();
    end_at(now + tables_->price(collective, group.placement, false).latency_ps, index, lane, scheduler);
  }
  ports_watched_ps_ = never;
  watch_ports(scheduler);
}

void Island::end_at(std::int64_t time_ps, std::uint32_t group, std::uint32_t lane, engine::Scheduler& scheduler) {
  endings_.push_back({time_ps, group, lane});
  scheduler.schedule(make_event(time_ps, EventKind::inner_ended, object_, group, lane, 0));
}

void Island::end(std::uint32_t index, std::uint32_t lane, engine::Scheduler& scheduler) {
  std::erase_if(endings_, [&](const Ending& e) { return e.group == index && e.lane == lane; });
  Group& group = groups_[index];
  Rendezvous& rendezvous = group.lanes.at(static_cast<graph::Stream>(lane));
  const std::int64_t now = scheduler.now().ps();
  for (std::uint32_t member = 0; member < group.members.size(); ++member) {
    devices_[group.members[member]].complete(rendezvous.stream_of(member), now, rendezvous.last_arrival_ps(), ledger_);
  }
  rendezvous.end();
  ++ledger_.collectives;
  for (std::uint32_t device : group.members) advance(device, scheduler);
}

std::int64_t Island::earliest_ps() const {
  std::int64_t earliest = ports_.next_ps();
  for (const Poll& outstanding : polls_) earliest = std::min(earliest, outstanding.time_ps);
  for (const Ending& ending : endings_) earliest = std::min(earliest, ending.time_ps);
  return earliest;
}

engine::Promise Island::promise() const {
  const std::int64_t earliest = earliest_ps();
  Device::Bound open;
  std::int64_t follows = never;
  for (const Device& device : devices_) {
    open.join(device.next_open(earliest));
    follows = std::min(follows, device.follows_ps());
  }
  const auto later = [](std::int64_t time_ps, std::int64_t by_ps) {
    return time_ps == never ? never : time_ps + by_ps;
  };
  const std::int64_t leg = tables_->reaches(object_).open->leg_ps();
  Device::Bound all{later(open.at_ps, leg), later(open.after_ps, leg)};
  if (follows != never) {
    // Whatever else starts on the NICs of this node moves the rate of what is under way there.
    for (const Device& device : devices_) {
      const Device::Bound closed = device.next_closed(earliest);
      all.join({later(closed.at_ps, follows), later(closed.after_ps, follows)});
    }
  }
  const auto time = [](std::int64_t ps) { return ps == never ? Time::infinity() : Time::picoseconds(ps); };
  return {time(all.at_ps), time(all.after_ps)};
}

bool Island::finished() const {
  return std::all_of(devices_.begin(), devices_.end(), [](const Device& device) { return device.finished(); });
}

std::string Island::name() const { return object_name(tables_->job, *tables_->objects, object_); }

void Island::report(Result& result) const {
  const std::uint32_t alone[] = {object_};
  const std::span<const std::uint32_t> alike =
      tables_->options.folding ? tables_->options.folding->islands_of(object_) : std::span<const std::uint32_t>(alone);
  const std::int64_t copies = std::ssize(alike);
  for (std::uint32_t island : alike) {
    const std::int64_t first = tables_->objects->first_device(island) - devices_.front().id();
    for (const Device& device : devices_) {
      result.hash.add(static_cast<std::uint64_t>(first + device.id()), device.rows());
    }
  }
  for (std::size_t i = 0; i < ledger_.iteration_end_ps.size(); ++i) {
    result.iteration_end[i] = std::max(result.iteration_end[i], Time::picoseconds(ledger_.iteration_end_ps[i]));
  }
  for (std::size_t i = 0; i < ledger_.classes.size(); ++i) {
    const ClassResult& mine = ledger_.classes[i];
    ClassResult& all = result.classes[i];
    all.devices += copies * mine.devices;
    const auto add = [copies](TimeSum& sum, TimeSum own) { sum += own * copies; };
    add(all.sum.compute, mine.sum.compute);
    for (std::size_t k = 0; k < mine.sum.exposed.size(); ++k) add(all.sum.exposed[k], mine.sum.exposed[k]);
    add(all.sum.bubble, mine.sum.bubble);
    add(all.sum.skew, mine.sum.skew);
    add(all.sum.host, mine.sum.host);
  }
  result.rows += static_cast<std::uint64_t>(copies) * ledger_.rows;
  result.collectives += static_cast<std::uint64_t>(copies) * ledger_.collectives;
}

}  // namespace proteus::executor
