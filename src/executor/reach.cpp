// SPDX-License-Identifier: Apache-2.0
#include "reach.hpp"

#include <algorithm>

#include "tables.hpp"

namespace proteus::executor {

Reach::Reach(const graph::Job& job, std::vector<bool> sought, std::int64_t leg_ps)
    : sought_(std::move(sought)), leg_ps_(leg_ps), ops_(job.phases.size()), steps_(job.programs.size()) {
  for (std::size_t p = 0; p < job.phases.size(); ++p) {
    for (std::size_t s = 0; s < graph::stream_count; ++s) {
      const auto& numbers = job.phases[p].by_stream[s];
      ops_[p][s].assign(numbers.size() + 1, no_op);
      for (std::size_t i = numbers.size(); i-- > 0;) {
        const graph::ProgramOp& op = job.phases[p].ops[numbers[i]];
        const bool here = !op.is_compute() && sought_[op.collective];
        ops_[p][s][i] = here ? static_cast<std::uint16_t>(i) : ops_[p][s][i + 1];
      }
    }
  }
  for (std::size_t n = 0; n < job.programs.size(); ++n) {
    const auto& steps = job.programs[n].steps;
    for (std::size_t s = 0; s < graph::stream_count; ++s) {
      steps_[n][s].assign(steps.size() + 1, no_step);
      for (std::size_t i = steps.size(); i-- > 0;) {
        const bool here = ops_[steps[i].phase][s].front() != no_op;
        steps_[n][s][i] = here ? static_cast<std::uint32_t>(i) : steps_[n][s][i + 1];
      }
    }
  }
}

namespace {

/// Whether a family runs with every micro-batch. What runs once an iteration is promised even within a rank: devices
/// that wait in it need not be thought ready for an answer all the time.
bool runs_often(const Tables& tables, std::uint32_t family) {
  return std::ranges::any_of(tables.objects->uses(family), [&](std::uint32_t use) {
    const graph::Traffic traffic = tables.job.collectives[use].traffic;
    return traffic == graph::Traffic::tensor || traffic == graph::Traffic::pipeline;
  });
}

}  // namespace

std::vector<bool> open_communicators(const Tables& tables, const std::vector<std::uint32_t>& owner) {
  const partition::Objects& objects = *tables.objects;
  std::vector<bool> open(objects.count());
  for (std::uint32_t object = objects.islands(); object < objects.first_domain(); ++object) {
    const std::uint32_t home = owner[object];
    if (home == engine::no_rank) continue;
    open[object] = !runs_often(tables, objects.communicator(object).family);
    const Members members = tables.members(object);
    for (std::int64_t m = 0; m < members.count() && !open[object]; ++m) {
      open[object] = owner[objects.island_of(members.device(m))] != home;
    }
    for (std::uint32_t domain : tables.domains(object)) open[object] = open[object] || owner[domain] != home;
  }
  return open;
}

std::shared_ptr<const engine::Couplings> couplings_of(const Tables& tables, const std::vector<bool>& open) {
  const partition::Objects& objects = *tables.objects;
  auto couplings = std::make_shared<engine::Couplings>();
  couplings->inner.resize(objects.count(), true);
  couplings->reaction.resize(objects.count(), Time::picoseconds(tables.lookahead_ps));
  for (std::uint32_t object = objects.islands(); object < objects.first_domain(); ++object) {
    if (!open[object]) continue;
    couplings->inner[object] = false;
    couplings->reaction[object] = Time::picoseconds(tables.shortest_leg_ps(object));
  }
  return couplings;
}

}  // namespace proteus::executor
