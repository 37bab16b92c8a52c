// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include <fmt/format.h>

#include <limits>

#include "proteus/cost/communication_cost.hpp"

namespace proteus::graph {
namespace {

std::string at_most_seconds() { return fmt::format("at most {:.3g} s, 13 days", longest_time.to_seconds()); }

}  // namespace

void check_elements(const model::Graph& graph) {
  double all = 0;
  for (const model::Tensor& tensor : graph.tensors) {
    double elements = 1;
    for (std::int64_t extent : tensor.extents) elements *= static_cast<double>(extent);
    all += elements;
    if (all <= most_elements) continue;
    throw BeyondLimit(
        "model",
        fmt::format("the tensors of a micro-batch on all replicas, up to {}, have {:.3g} elements", tensor.name, all),
        fmt::format("at most {:.3g}", most_elements));
  }
}

void check_bytes(std::int64_t bytes, const std::string& what) {
  if (bytes <= most_bytes) return;
  throw BeyondLimit("model", fmt::format("{} needs {:.3g} bytes of one device", what, static_cast<double>(bytes)),
                    fmt::format("at most {:.3g}", static_cast<double>(most_bytes)));
}

void check_phase(const Phase& phase, Time compute, const std::string& op) {
  constexpr std::size_t most_ops = std::numeric_limits<std::uint16_t>::max();
  if (phase.ops.size() >= most_ops) {
    throw BeyondLimit("model", fmt::format("{} up to {} has more than {} ops", phase.name, op, most_ops),
                      "fewer layers, or more chunks of them");
  }
  if (compute <= longest_time) return;
  const std::string length = compute.is_infinite() ? "over 4.6e6" : fmt::format("{:.3g}", compute.to_seconds());
  throw BeyondLimit("model", fmt::format("{} up to {} takes {} s", phase.name, op, length), at_most_seconds());
}

void check_collective(const CollectiveUse& use, double comm_slowdown) {
  for (const auto& [placement, cost] : use.cost) {
    const double bandwidth = cost.bandwidth.value / comm_slowdown;
    const double transfer = bandwidth > 0 ? static_cast<double>(use.size.value) / bandwidth : 0;
    const double seconds = cost.latency.to_seconds() + transfer;
    if (seconds <= longest_time.to_seconds()) continue;
    throw BeyondLimit("cluster",
                      fmt::format("{} of {} B between {} devices on {} nodes takes {:.3g} s", cost::name_of(use.kind),
                                  use.size.value, placement.members, placement.nodes, seconds),
                      at_most_seconds());
  }
}

void check_program_time(const Job& job, const Program& program) {
  double picoseconds = 0;
  for (const Step& step : program.steps) {
    const Phase& phase = job.phases[step.phase];
    picoseconds += static_cast<double>(phase.host_ps);
    for (const ProgramOp& op : phase.ops) picoseconds += static_cast<double>(op.is_compute() ? op.overlapped_ps : 0);
  }
  const double seconds = picoseconds * job.iterations * 1e-12;
  if (seconds <= longest_time.to_seconds()) return;
  throw BeyondLimit("simulate",
                    fmt::format("{} computes {:.3g} s in {} iterations", program.name, seconds, job.iterations),
                    at_most_seconds() + "; fewer iterations or micro-batches tell as much");
}

}  // namespace proteus::graph
