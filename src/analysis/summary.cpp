// SPDX-License-Identifier: Apache-2.0
#include "proteus/analysis/summary.hpp"

#include <algorithm>
#include <utility>

#include "proteus/graph/compile.hpp"

namespace proteus::analysis {
namespace {

BreakdownSeconds mean(const executor::Breakdown& sum, double devices) {
  const auto seconds = [&](TimeSum time) { return devices > 0 ? time.to_seconds() / devices : 0; };
  BreakdownSeconds result;
  result.compute = seconds(sum.compute);
  for (int i = 0; i < graph::traffic_count; ++i) {
    result.exposed[std::string(graph::name_of(static_cast<graph::Traffic>(i)))] =
        seconds(sum.exposed[static_cast<std::size_t>(i)]);
  }
  result.bubble = seconds(sum.bubble);
  result.host = seconds(sum.host);
  result.skew = seconds(sum.skew);
  result.idle = seconds(sum.idle);
  return result;
}

void add(executor::Breakdown& total, const executor::Breakdown& part) {
  total.compute += part.compute;
  for (std::size_t i = 0; i < total.exposed.size(); ++i) total.exposed[i] += part.exposed[i];
  total.bubble += part.bubble;
  total.host += part.host;
  total.skew += part.skew;
  total.idle += part.idle;
}

void normalize(std::map<std::string, double>& shares) {
  double total = 0;
  for (const auto& [name, time] : shares) total += time;
  if (total <= 0) return;
  for (auto& [name, time] : shares) time /= total;
}

/// Shares of the time of all ops, as priced, by what the prices rest on.
void provenance(const graph::Job& job, Summary& summary) {
  for (auto kind : {cost::Provenance::profile, cost::Provenance::fitted, cost::Provenance::roofline}) {
    summary.compute_share[std::string(cost::name_of(kind))] = 0;
    summary.communication_share[std::string(cost::name_of(kind))] = 0;
  }
  std::vector<double> runs(job.phases.size(), 0);  // instances over all stages
  for (std::uint32_t number : job.program_of_stage) {
    for (const graph::Step& step : job.programs[number].steps) runs[step.phase] += 1;
  }
  for (std::size_t p = 0; p < job.phases.size(); ++p) {
    const graph::Phase& phase = job.phases[p];
    for (std::size_t i = 0; i < phase.ops.size(); ++i) {
      if (phase.ops[i].is_compute()) {
        summary.compute_share[std::string(cost::name_of(phase.descriptions[i].provenance))] +=
            runs[p] * static_cast<double>(phase.ops[i].duration_ps);
        continue;
      }
      const graph::CollectiveUse& use = job.collectives[phase.ops[i].collective];
      const cost::CollectiveCost& price = use.cost.begin()->second;
      const Time time = price.latency + use.size / price.bandwidth;
      summary.communication_share[std::string(cost::name_of(price.provenance))] +=
          runs[p] * static_cast<double>(time.ps());
    }
  }
  normalize(summary.compute_share);
  normalize(summary.communication_share);
}

}  // namespace

double BreakdownSeconds::total() const {
  double sum = compute + bubble + host + skew + idle;
  for (const auto& [kind, time] : exposed) sum += time;
  return sum;
}

Summary summarize(const graph::Job& job, const cluster::Cluster& cluster, const executor::Result& result,
                  EngineSummary engine) {
  Summary summary;
  Time before;
  for (Time end : result.iteration_end) {
    summary.iterations_s.push_back((end - before).to_seconds());
    before = end;
  }
  summary.devices = job.devices;
  summary.iteration_time_s = summary.iterations_s.empty() ? 0 : summary.iterations_s.back();
  if (summary.iteration_time_s > 0) {
    summary.tokens_per_s = static_cast<double>(job.tokens_per_iteration) / summary.iteration_time_s;
    summary.samples_per_s = static_cast<double>(job.samples_per_iteration) / summary.iteration_time_s;
    const double rate = job.model_flops_per_iteration / summary.iteration_time_s / static_cast<double>(job.devices);
    summary.model_tflops_per_gpu = rate / 1e12;
    summary.mfu = rate / job.peak_flops.value;
  }

  executor::Breakdown total;
  summary.capacity = cluster.node.gpu.memory;
  for (std::size_t i = 0; i < job.programs.size(); ++i) {
    const executor::ClassResult& part = result.classes[i];
    add(total, part.sum);
    summary.classes.push_back(
        {job.programs[i].name, part.devices, mean(part.sum, static_cast<double>(part.devices)), job.memory[i]});
    summary.oom = summary.oom || job.memory[i].peak > summary.capacity;
  }
  summary.breakdown = mean(total, static_cast<double>(job.devices));
  provenance(job, summary);

  engine.state_hash = result.hash.to_string();
  engine.rows = result.rows;
  engine.collectives = result.collectives;
  engine.program_bytes = graph::program_bytes(job);
  engine.classes = job.programs.size();
  summary.engine = std::move(engine);
  return summary;
}

}  // namespace proteus::analysis
