// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "prints.hpp"
#include "proteus/graph/compile.hpp"

namespace proteus::cli {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::string print_programs(const PreparedJob& prepared, PrintFormat format) {
  return format == PrintFormat::json ? programs_json(prepared.job, prepared.compile_seconds).dump(1) + "\n"
                                     : programs_text(prepared.job);
}

}  // namespace proteus::cli
