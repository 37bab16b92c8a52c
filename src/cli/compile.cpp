// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "command.hpp"
#include "options.hpp"
#include "prepared_job.hpp"
#include "proteus/io/strategy_yaml.hpp"

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

std::string waits_text(const graph::ProgramOp& op) {
  std::string text;
  for (std::uint8_t i = 0; i < op.wait_count; ++i) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", graph::name_of(op.waits[i].stream), op.waits[i].count);
  }
  return text;
}

double milliseconds(const graph::Job& job, const graph::ProgramOp& op) {
  if (op.is_compute()) return static_cast<double>(op.duration_ps) * 1e-9;
  const graph::CollectiveUse& use = job.collectives[op.collective];
  const cost::CollectiveCost& price = use.cost.begin()->second;
  return (price.latency + use.size / price.bandwidth).to_seconds() * 1e3;
}

Json programs_json(const graph::Job& job, double seconds) {
  Json programs = Json::array();
  for (const graph::Program& program : job.programs)
    programs.push_back({{"name", program.name}, {"steps", program.steps.size()}, {"rows", program.rows()}});
  Json phases = Json::array();
  for (const graph::Phase& phase : job.phases) {
    Json ops = Json::array();
    for (std::size_t i = 0; i < phase.ops.size(); ++i) {
      ops.push_back({{"name", job.names[phase.descriptions[i].name]},
                     {"kind", job.names[phase.descriptions[i].kind]},
                     {"stream", graph::name_of(phase.ops[i].stream)},
                     {"ms", milliseconds(job, phase.ops[i])},
                     {"bytes", phase.descriptions[i].bytes},
                     {"flops", phase.descriptions[i].flops},
                     {"waits", waits_text(phase.ops[i])}});
    }
    phases.push_back({{"name", phase.name}, {"ops", ops}});
  }
  return {{"classes", job.programs.size()}, {"program_bytes", graph::program_bytes(job)},
          {"compile_s", seconds},           {"devices", job.devices},
          {"programs", programs},           {"phases", phases}};
}

std::string programs_text(const graph::Job& job) {
  std::string text;
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    text += fmt::format("program {}: {} steps, {} rows per iteration\n", job.programs[p].name,
                        job.programs[p].steps.size(), job.programs[p].rows());
    std::size_t shown = 0;
    for (const graph::Step& step : job.programs[p].steps) {
      if (++shown > 12) break;
      text += fmt::format("  {} {}\n", job.phases[step.phase].name, step.micro_batch);
    }
    if (job.programs[p].steps.size() > 12) text += "  ...\n";
  }
  for (std::size_t number = 0; number < job.phases.size(); ++number) {
    const graph::Phase& phase = job.phases[number];
    text += fmt::format("phase {} {}: {:.3f} ms of compute\n", number, phase.name,
                        static_cast<double>(phase.compute_ps) * 1e-9);
    for (std::size_t i = 0; i < phase.ops.size(); ++i) {
      text += fmt::format("  {:>4} {:<16} {:<44} {:<26} {:>10.4f} ms  {}\n", i, graph::name_of(phase.ops[i].stream),
                          job.names[phase.descriptions[i].name], job.names[phase.descriptions[i].kind],
                          milliseconds(job, phase.ops[i]), waits_text(phase.ops[i]));
    }
  }
  return text;
}

/// The other half of what places collectives, as comments, so that the text can still be fed back.
std::string rules_text(const strategy::Runtime& runtime) {
  std::string text =
      fmt::format("# runtime rules of {} ({}); later ones win, field by field:\n", runtime.name, runtime.mirrors);
  for (const strategy::Rule& rule : runtime.rules) {
    const strategy::RuleMatch& m = rule.match;
    const strategy::RuleEffect& e = rule.effect;
    std::vector<std::string> match, effect;
    const auto add = [](std::vector<std::string>& list, const char* key, const auto& value) {
      if (value) list.push_back(fmt::format("{}: {}", key, *value));
    };
    if (m.role) match.push_back(fmt::format("role: {}", strategy::name_of(*m.role)));
    add(match, "pass", m.pass);
    add(match, "collective", m.collective);
    add(match, "schedule", m.schedule);
    add(effect, "stream", e.stream);
    add(effect, "wait_before", e.wait_before);
    add(effect, "issue_after", e.issue_after);
    add(effect, "when", e.when);
    if (e.type) effect.push_back(fmt::format("type: {}", name_of(*e.type)));
    add(effect, "bucket_elements", e.bucket_elements);
    add(effect, "bucket_elements_per_rank", e.bucket_elements_per_rank);
    add(effect, "host_sync", e.host_sync);
    add(effect, "decompose", e.decompose);
    add(effect, "coalesce", e.coalesce);
    text += fmt::format("#   {{{}}} -> {{{}}}\n", fmt::join(match, ", "), fmt::join(effect, ", "));
  }
  return text;
}

using MemoryField = std::pair<const char*, Bytes graph::MemoryPlan::*>;
constexpr std::array<MemoryField, 8> memory_fields = {{{"parameters", &graph::MemoryPlan::parameters},
                                                       {"gradients", &graph::MemoryPlan::gradients},
                                                       {"optimizer", &graph::MemoryPlan::optimizer},
                                                       {"activations", &graph::MemoryPlan::activations},
                                                       {"temporaries", &graph::MemoryPlan::temporaries},
                                                       {"communication", &graph::MemoryPlan::communication},
                                                       {"context", &graph::MemoryPlan::context},
                                                       {"peak", &graph::MemoryPlan::peak}}};

Json memory_json(const PreparedJob& prepared) {
  Json list = Json::array();
  for (std::size_t i = 0; i < prepared.job.programs.size(); ++i) {
    const graph::MemoryPlan& m = prepared.job.memory[i];
    Json entry = {{"class", prepared.job.programs[i].name}};
    for (const auto& [name, field] : memory_fields) entry[std::string(name) + "_bytes"] = (m.*field).value;
    entry["oom"] = m.peak > prepared.experiment.cluster.node.gpu.memory;
    entry["peak_phase"] = m.peak_phase;
    entry["peak_op"] = m.peak_op;
    list.push_back(entry);
  }
  return {{"memory", list}, {"capacity_bytes", prepared.experiment.cluster.node.gpu.memory.value}};
}

std::string memory_text(const PreparedJob& prepared) {
  std::string text =
      fmt::format("GiB per GPU (capacity {:.1f})\n{:<12}",
                  static_cast<double>(prepared.experiment.cluster.node.gpu.memory.value) / (1 << 30), "class");
  for (const auto& [name, field] : memory_fields) text += fmt::format(" {:>13}", name);
  text += "\n";
  for (std::size_t i = 0; i < prepared.job.programs.size(); ++i) {
    text += fmt::format("{:<12}", prepared.job.programs[i].name);
    for (const auto& [name, field] : memory_fields)
      text += fmt::format(" {:>13.3f}", static_cast<double>((prepared.job.memory[i].*field).value) / (1 << 30));
    text += fmt::format("  {}, {}\n", prepared.job.memory[i].peak_phase, prepared.job.memory[i].peak_op);
  }
  return text;
}

}  // namespace

int run_compile(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  auto add = options.add_options();
  add("set", po::value<std::vector<std::string>>()->composing(),
      "PATH.TO.KEY=VALUE: override a key of the experiment; may be repeated");
  add("print", po::value<std::string>()->default_value("programs"), "tree, programs, collectives or memory");
  add("format", po::value<std::string>()->default_value("text"),
      "text or json (text of tree: YAML that can be fed back)");
  po::variables_map values;
  if (!parse(arguments, "proteus compile EXPERIMENT.yaml --print tree|programs|collectives|memory [options]", options,
             {"EXPERIMENT"}, values))
    return exit_success;
  const auto what = values["print"].as<std::string>();
  const auto format = values["format"].as<std::string>();
  constexpr std::array prints = {"tree", "programs", "collectives", "memory"};
  if (std::find(prints.begin(), prints.end(), what) == prints.end())
    throw UsageError("--print " + what + " (expected tree, programs, collectives or memory)");
  if (format != "text" && format != "json") throw UsageError("--format " + format + " (expected text or json)");

  const PreparedJob prepared = prepare(values["EXPERIMENT"].as<std::string>(), all_of(values, "set"));
  const bool json = format == "json";
  if (what == "tree") {
    const io::Experiment& e = prepared.experiment;
    std::cout << (json ? io::strategy_to_json(e.strategy, e.runtime)
                       : io::strategy_to_yaml(e.strategy) + rules_text(e.runtime));
  } else if (what == "programs") {
    std::cout << (json ? programs_json(prepared.job, prepared.compile_seconds).dump(1) + "\n"
                       : programs_text(prepared.job));
  } else if (what == "collectives") {
    std::cout << (json ? collectives_json(prepared.job).dump(1) + "\n" : collectives_text(prepared.job));
  } else {
    std::cout << (json ? memory_json(prepared).dump(1) + "\n" : memory_text(prepared));
  }
  return exit_success;
}

}  // namespace proteus::cli
