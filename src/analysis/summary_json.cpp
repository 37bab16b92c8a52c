// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "proteus/analysis/summary.hpp"

namespace proteus::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json breakdown(const BreakdownSeconds& b) {
  return {{"compute_s", b.compute}, {"exposed_s", b.exposed},     {"bubble_s", b.bubble},
          {"host_s", b.host},       {"other_s", b.skew + b.idle}, {"other", {{"skew_s", b.skew}, {"idle_s", b.idle}}},
          {"total_s", b.total()}};
}

Json memory(const graph::MemoryPlan& m, Bytes capacity) {
  Json largest = Json::array();
  for (const auto& [name, size] : m.largest) largest.push_back({{"name", name}, {"bytes", size.value}});
  return {{"peak_bytes", m.peak.value},
          {"capacity_bytes", capacity.value},
          {"oom", m.peak > capacity},
          {"parameters_bytes", m.parameters.value},
          {"gradients_bytes", m.gradients.value},
          {"optimizer_bytes", m.optimizer.value},
          {"activations_bytes", m.activations.value},
          {"temporaries_bytes", m.temporaries.value},
          {"communication_bytes", m.communication.value},
          {"context_bytes", m.context.value},
          {"peak_phase", m.peak_phase},
          {"peak_op", m.peak_op},
          {"largest", largest}};
}

/// Up to so many ranks each is listed, with those that are bound as it is.
constexpr int most_listed = 256;

Json placement(const partition::PlacementReport& report) {
  int ranks = 0;
  for (const auto& host : report.hosts) ranks += host.ranks;
  Json hosts = Json::array();
  for (const auto& host : report.hosts) {
    std::size_t bound = 0;
    Json bindings = Json::array();
    for (const auto& binding : host.bindings) {
      if (binding.bound) bound += binding.ranks.size();
      bindings.push_back({{"ranks", partition::ranges_text(binding.ranks)},
                          {"bound", binding.bound},
                          {"cores", partition::ranges_text(binding.cores)},
                          {"numa_nodes", partition::ranges_text(binding.numa_nodes)}});
    }
    Json entry = {{"host", host.name},
                  {"cores", host.cores},
                  {"hardware_threads", host.hardware_threads},
                  {"numa_nodes", host.numa_nodes},
                  {"ranks", host.ranks},
                  {"bound", bound}};
    if (ranks <= most_listed) entry["bindings"] = std::move(bindings);
    hosts.push_back(std::move(entry));
  }
  return {{"hosts", std::move(hosts)}, {"warnings", report.warnings}};
}

}  // namespace

std::string to_json(const Summary& s) {
  Json root;
  root["iteration_time_s"] = s.iteration_time_s;
  root["iterations_s"] = s.iterations_s;
  root["tokens_per_s"] = s.tokens_per_s;
  root["samples_per_s"] = s.samples_per_s;
  root["model_tflops_per_gpu"] = s.model_tflops_per_gpu;
  root["mfu"] = s.mfu;
  root["devices"] = s.devices;
  root["breakdown"] = breakdown(s.breakdown);
  const auto worst = std::max_element(s.classes.begin(), s.classes.end(),
                                      [](const auto& a, const auto& b) { return a.memory.peak < b.memory.peak; });
  root["memory"] = worst == s.classes.end() ? Json::object() : memory(worst->memory, s.capacity);
  root["memory"]["oom"] = s.oom;
  root["stages"] = Json::array();
  for (const ClassSummary& c : s.classes) {
    root["stages"].push_back({{"name", c.name},
                              {"devices", c.devices},
                              {"breakdown", breakdown(c.breakdown)},
                              {"memory", memory(c.memory, s.capacity)}});
  }
  root["provenance"] = {{"compute", s.compute_share}, {"communication", s.communication_share}};
  const EngineSummary& e = s.engine;
  root["engine"] = {{"state_hash", e.state_hash},
                    {"mode", e.mode},
                    {"ranks", e.ranks},
                    {"fold", e.fold},
                    {"devices_simulated", e.devices_simulated},
                    {"assumptions", e.assumptions},
                    {"foldable_to", e.foldable_to},
                    {"events", e.events},
                    {"rows", e.rows},
                    {"collectives", e.collectives},
                    {"windows", e.windows},
                    {"perfect_windows", e.perfect_windows},
                    {"messages_local", e.messages_local},
                    {"messages_remote", e.messages_remote},
                    {"seconds", e.seconds},
                    {"seconds_compile", e.seconds_compile},
                    {"seconds_events", e.seconds_events},
                    {"seconds_synchronization", e.seconds_synchronization},
                    {"events_per_s", e.seconds > 0 ? static_cast<double>(e.events) / e.seconds : 0},
                    {"balance", e.balance},
                    {"classes", e.classes},
                    {"program_bytes", e.program_bytes},
                    {"placement", placement(e.placement)}};
  return root.dump(2) + "\n";
}

}  // namespace proteus::analysis
