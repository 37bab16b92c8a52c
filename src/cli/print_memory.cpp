// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "prints.hpp"

namespace proteus::cli {
namespace {

using Json = nlohmann::ordered_json;

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

std::string print_memory(const PreparedJob& prepared, PrintFormat format) {
  return format == PrintFormat::json ? memory_json(prepared).dump(1) + "\n" : memory_text(prepared);
}

}  // namespace proteus::cli
