// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <metis.h>

#include <algorithm>

#include "proteus/base/error.hpp"
#include "proteus/partition/coupling.hpp"

namespace proteus::partition {
namespace {

/// METIS adds weights up in 32 bits.
constexpr double largest_sum = 1e9;

/// Weights as METIS takes them: in proportion, at least 1.
std::vector<idx_t> whole(const std::vector<double>& weights) {
  double sum = 0;
  for (double weight : weights) sum += weight;
  const double scale = sum > largest_sum ? largest_sum / sum : 1;
  std::vector<idx_t> result;
  for (double weight : weights) result.push_back(std::max<idx_t>(1, static_cast<idx_t>(weight * scale)));
  return result;
}

}  // namespace

std::vector<std::uint32_t> split_with_metis(const CouplingGraph& graph, int ranks) {
  const std::size_t count = graph.events.size();
  auto parts = static_cast<idx_t>(std::min<std::int64_t>(ranks, graph.islands));
  std::vector<idx_t> part(count, 0);
  if (parts > 1) {
    std::vector<idx_t> offsets(count + 1, 0);
    for (const auto& edge : graph.edges) {
      ++offsets[edge.a + 1];
      ++offsets[edge.b + 1];
    }
    for (std::size_t i = 0; i < count; ++i) offsets[i + 1] += offsets[i];
    std::vector<idx_t> neighbours(graph.edges.size() * 2);
    std::vector<double> weights(graph.edges.size() * 2);
    std::vector<idx_t> filled(offsets.begin(), offsets.end() - 1);
    for (const auto& edge : graph.edges) {
      // Rare messages are seen coming from afar: a cut costs as many windows as there are instances.
      const double weight = edge.messages * std::max(1.0, edge.instances);
      for (auto [from, to] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
        const auto place = static_cast<std::size_t>(filled[from]++);
        neighbours[place] = static_cast<idx_t>(to);
        weights[place] = weight;
      }
    }
    std::vector<idx_t> events = whole(graph.events);
    std::vector<idx_t> messages = whole(weights);
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    auto vertices = static_cast<idx_t>(count);
    idx_t constraints = 1;
    idx_t cut = 0;
    const int status =
        METIS_PartGraphKway(&vertices, &constraints, offsets.data(), neighbours.data(), events.data(), nullptr,
                            messages.data(), &parts, nullptr, nullptr, options, &cut, part.data());
    if (status != METIS_OK) throw SimulationError(fmt::format("METIS cannot split the job (status {})", status));
  }
  return {part.begin(), part.end()};
}

}  // namespace proteus::partition
