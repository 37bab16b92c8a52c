// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "prints.hpp"

namespace proteus::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Instances of one collective over the whole job in one iteration.
struct CollectiveCount {
  const graph::CollectiveUse* use = nullptr;
  const graph::CommunicatorFamily* family = nullptr;
  std::string phase;
  double instances = 0;
};

std::vector<CollectiveCount> count_collectives(const graph::Job& job) {
  std::map<std::pair<std::uint32_t, std::string>, CollectiveCount> counts;
  const std::int64_t devices_per_stage = job.devices / job.stage_count;
  for (std::uint32_t number : job.program_of_stage) {
    for (const graph::Step& step : job.programs[number].steps) {
      const graph::Phase& phase = job.phases[step.phase];
      for (const graph::ProgramOp& op : phase.ops) {
        if (op.is_compute()) continue;
        const graph::CollectiveUse& use = job.collectives[op.collective];
        CollectiveCount& count = counts[{op.collective, std::string(graph::name_of(phase.kind))}];
        count.use = &use;
        count.family = &job.families[use.family];
        count.phase = graph::name_of(phase.kind);
        count.instances += static_cast<double>(devices_per_stage) / static_cast<double>(count.family->members());
      }
    }
  }
  std::vector<CollectiveCount> result;
  for (auto& [key, count] : counts) result.push_back(std::move(count));
  return result;
}

Json collectives_json(const graph::Job& job) {
  Json list = Json::array();
  for (const CollectiveCount& c : count_collectives(job)) {
    list.push_back({{"collective", cost::name_of(c.use->kind)},
                    {"communicator", c.family->name},
                    {"members", c.family->members()},
                    {"groups", c.family->groups()},
                    {"traffic", graph::name_of(c.use->traffic)},
                    {"phase", c.phase},
                    {"dtype", name_of(c.use->type)},
                    {"bytes", c.use->size.value},
                    {"instances", c.instances}});
  }
  return {{"collectives", list}};
}

std::string collectives_text(const graph::Job& job) {
  std::string text = fmt::format("{:<15} {:<24} {:>7} {:<10} {:<9} {:<5} {:>14} {:>10}\n", "collective", "communicator",
                                 "members", "traffic", "phase", "dtype", "bytes", "instances");
  for (const CollectiveCount& c : count_collectives(job)) {
    text += fmt::format("{:<15} {:<24} {:>7} {:<10} {:<9} {:<5} {:>14} {:>10.0f}\n", cost::name_of(c.use->kind),
                        c.family->name, c.family->members(), graph::name_of(c.use->traffic), c.phase,
                        name_of(c.use->type), c.use->size.value, c.instances);
  }
  return text;
}

}  // namespace

std::string print_collectives(const PreparedJob& prepared, PrintFormat format) {
  return format == PrintFormat::json ? collectives_json(prepared.job).dump(1) + "\n" : collectives_text(prepared.job);
}

}  // namespace proteus::cli
