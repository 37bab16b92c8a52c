// SPDX-License-Identifier: Apache-2.0
#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "proteus/base/error.hpp"
#include "proteus/executor/simulation.hpp"

namespace proteus::executor {
namespace {

bool earlier(const Delay& a, const Delay& b) { return std::tie(a.device, a.position) < std::tie(b.device, b.position); }

Price make_price(const graph::Job& job, const graph::CollectiveUse& use, const cost::CollectiveCost& cost,
                 bool spanning) {
  Price price;
  price.known = true;
  price.latency_ps = std::max<std::int64_t>(0, cost.latency.ps());
  price.bandwidth = cost.bandwidth.value;
  if (price.bandwidth > 0) {
    price.transfer_ps = (use.size / cost.bandwidth).ps();
    price.slowed_ps = (use.size / BytesPerSecond{price.bandwidth / job.comm_slowdown}).ps();
  }
  price.nic_bytes = cost.nic_bytes;
  price.nvlink_bytes = cost.nvlink_bytes;
  price.leg_ps = std::max<std::int64_t>(1, price.latency_ps / 4);
  cost::CollectiveCost on_ports = cost;
  if (!spanning) on_ports.nic_bytes = cost.nvlink_bytes;
  price.network = partition::goes_on_fabric(use, on_ports);
  return price;
}

std::vector<std::vector<Price>> make_prices(const graph::Job& job, const partition::Objects& objects, bool spanning) {
  std::vector<std::vector<Price>> prices(job.collectives.size());
  for (std::uint32_t family = 0; family < job.families.size(); ++family) {
    for (std::uint32_t c : objects.uses(family)) {
      for (const auto& placement : objects.placements()) {
        auto cost = job.collectives[c].cost.find(placement);
        prices[c].push_back(cost == job.collectives[c].cost.end()
                                ? Price{}
                                : make_price(job, job.collectives[c], cost->second, spanning));
      }
    }
  }
  return prices;
}

void check(const graph::Job& job, const Options& options) {
  if (job.devices < 1 || job.island_size < 1 || job.iterations < 1) {
    throw SimulationError(fmt::format("nothing to simulate: {} devices, {} iterations", job.devices, job.iterations));
  }
  for (const auto& phase : job.phases) {
    for (const auto& op : phase.ops) {
      // Promises assume that nothing runs faster than at full speed.
      if (op.is_compute() && (op.duration_ps < 0 || op.overlapped_ps < op.duration_ps)) {
        throw SimulationError(fmt::format("phase {} has a compute op of {} ps that takes {} ps beside communication",
                                          phase.name, op.duration_ps, op.overlapped_ps));
      }
      if (op.is_compute() != (op.stream == graph::Stream::compute)) {
        throw SimulationError("phase " + phase.name + " has an op on a stream of the wrong kind");
      }
    }
  }
  if (job.comm_slowdown < 1) throw SimulationError("communication beside compute cannot be faster than alone");
  for (const auto& delay : options.delays) {
    if (delay.by < Time::zero()) throw SimulationError(fmt::format("device {} has a negative delay", delay.device));
  }
}

}  // namespace

Tables::Tables(const graph::Job& the_job, const cluster::Cluster& the_cluster, Options the_options,
               const partition::Assignment& assignment, int rank)
    : job(the_job),
      cluster(the_cluster),
      options(std::move(the_options)),
      objects(assignment.objects),
      jitter(options.seed, options.compute_jitter),
      inner_(make_prices(job, *objects, false)),
      spanning_(make_prices(job, *objects, true)),
      delays_(options.delays) {
  check(job, options);
  for (std::uint32_t family = 0; family < job.families.size(); ++family) {
    std::int64_t spanning = objects->communicators(family);
    spans_.push_back(spanning == 0 ? 0 : spanning == job.families[family].groups() ? 1 : -1);
  }
  std::stable_sort(delays_.begin(), delays_.end(), earlier);
  lookahead_ps = std::min(job.lookahead, shortest_delay(job, *objects)).ps();
  if (lookahead_ps < 1) throw SimulationError("messages between logical processes must take time");
  open_ = open_communicators(*this, *assignment.owner);
  find_reach(assignment, rank);
}

std::int64_t Tables::shortest_leg_ps(std::uint32_t communicator) const {
  std::int64_t shortest = never;
  for (std::uint32_t use : objects->uses(objects->communicator(communicator).family)) {
    shortest = std::min(shortest, price(use, placement(communicator), true).leg_ps);
  }
  return shortest;
}

void Tables::find_reach(const partition::Assignment& assignment, int rank) {
  using Families = std::vector<bool>;
  std::map<std::tuple<Families, Families, Families, std::int64_t>, const Reaches*> known;
  const auto collectives_of = [this](const Families& families) {
    std::vector<bool> collectives;
    for (const auto& use : job.collectives) collectives.push_back(families[use.family]);
    return collectives;
  };
  for (std::uint32_t island = 0; island < objects->islands(); ++island) {
    if ((*assignment.owner)[island] != static_cast<std::uint32_t>(rank)) continue;
    Families open(job.families.size());
    Families closed(job.families.size());
    Families inside(job.families.size());
    std::int64_t leg = never;
    for (std::uint32_t f = 0; f < open.size(); ++f) {
      if (objects->communicators(f) == 0) continue;
      for (std::int64_t id = objects->first_device(island); id < objects->end_device(island); ++id) {
        const auto place = job.families[f].locate(id);
        const auto object = place ? objects->object_of(f, place->group) : std::nullopt;
        if (place && !object) inside[f] = true;
        if (!object) continue;
        const bool promised = open_[communicator(*object)];
        (promised ? open : closed)[f] = true;
        if (promised) leg = std::min(leg, shortest_leg_ps(communicator(*object)));
      }
    }
    const Reaches*& reaches = known[{open, closed, inside, leg}];
    if (reaches == nullptr) {
      Reaches made{std::make_unique<const Reach>(job, collectives_of(open), leg),
                   std::make_unique<const Reach>(job, collectives_of(closed), 0), collectives_of(open)};
      for (std::size_t c = 0; c < made.always_open.size(); ++c) {
        const std::uint32_t family = job.collectives[c].family;
        if (closed[family] || inside[family]) made.always_open[c] = false;
      }
      reaches = reaches_.emplace_back(std::make_unique<const Reaches>(std::move(made))).get();
    }
    island_reaches_[island] = reaches;
  }
}

bool Tables::spans(std::uint32_t collective, std::int64_t device) const {
  std::uint32_t family = job.collectives[collective].family;
  if (spans_[family] >= 0) return spans_[family] == 1;
  auto place = job.families[family].locate(device);
  return place && objects->object_of(family, place->group).has_value();
}

const Price& Tables::price(std::uint32_t collective, std::uint32_t placement, bool spanning) const {
  const Price& price = (spanning ? spanning_ : inner_)[collective][placement];
  if (!price.known) {
    const auto& where = objects->placements()[placement];
    throw SimulationError(fmt::format("{} has no price for {} members on {} nodes, {} a node", describe(collective, -1),
                                      where.members, where.nodes, where.members_per_node));
  }
  return price;
}

std::uint32_t Tables::communicator(std::uint32_t object) const {
  return options.folding ? options.folding->representative(object) : object;
}

std::uint32_t Tables::placement(std::uint32_t communicator) const {
  return options.folding ? options.folding->placement(communicator) : objects->communicator(communicator).placement;
}

std::span<const std::uint32_t> Tables::domains(std::uint32_t communicator) const {
  return options.folding ? options.folding->domains(communicator) : objects->domains_of(communicator);
}

Members Tables::members(std::uint32_t communicator) const {
  if (options.folding) return Members(options.folding->members(communicator));
  const auto& where = objects->communicator(communicator);
  return {job.families[where.family], where.group};
}

std::int64_t Tables::delay(std::int64_t device, std::int64_t position) const {
  Delay key{device, position, {}};
  std::int64_t sum = 0;
  for (auto it = std::lower_bound(delays_.begin(), delays_.end(), key, earlier);
       it != delays_.end() && it->device == device && it->position == position; ++it) {
    sum += it->by.ps();
  }
  return sum;
}

bool Tables::has_delays(std::int64_t device) const {
  return std::any_of(delays_.begin(), delays_.end(), [&](const Delay& d) { return d.device == device; });
}

std::string Tables::describe(std::uint32_t collective, std::int64_t group) const {
  return fmt::format("{} {}", cost::name_of(job.collectives[collective].kind), describe_call(collective, group));
}

std::string Tables::describe_device(std::int64_t device) const {
  return job.stage_count > 1 ? fmt::format("device {} (stage {})", device, job.stage_of(device))
                             : fmt::format("device {}", device);
}

std::string Tables::describe_call(std::uint32_t collective, std::int64_t group) const {
  const graph::CollectiveUse& use = job.collectives[collective];
  std::string op;
  for (const auto& phase : job.phases) {
    for (std::size_t i = 0; i < phase.ops.size() && i < phase.descriptions.size() && op.empty(); ++i) {
      if (phase.ops[i].collective == collective) op = job.names.at(phase.descriptions[i].name);
    }
  }
  std::string where = job.families[use.family].name;
  if (group >= 0) where += fmt::format(" #{}", group);
  return fmt::format("'{}' of {} B on {}", op, use.size.value, where);
}

}  // namespace proteus::executor
