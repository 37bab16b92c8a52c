// SPDX-License-Identifier: Apache-2.0
#include "fabric_load.hpp"

#include <algorithm>

namespace proteus::executor {
namespace {

/// All loads of a communicator that has one domain.
std::vector<partition::FabricLinks::Use> all_uses(const Tables& tables, std::uint32_t communicator,
                                                  cost::Collective kind) {
  const auto& where = tables.objects->communicator(communicator);
  return tables.objects->links().uses(tables.job.families[where.family], where.group, kind);
}

const partition::Objects::Spread* spread_of(const Tables& tables, std::uint32_t communicator, cost::Collective kind) {
  for (const auto& spread : tables.objects->spreads_of(communicator)) {
    if (spread.kind == kind) return &spread;
  }
  return nullptr;
}

template <typename Uses>
double busiest_of(const Tables& tables, const Uses& uses) {
  double busiest = 0;
  for (const auto& use : uses) {
    if (tables.objects->links().is_nic(use.link)) busiest = std::max(busiest, use.weight);
  }
  return busiest;
}

}  // namespace

double busiest_nic(const Tables& tables, std::uint32_t communicator, cost::Collective kind) {
  if (tables.options.folding) return busiest_of(tables, tables.options.folding->uses(communicator, kind));
  if (const auto* spread = spread_of(tables, communicator, kind)) return spread->busiest;
  return busiest_of(tables, all_uses(tables, communicator, kind));
}

Demand demand(const Tables& tables, std::uint32_t communicator, std::uint32_t collective, bool beside_compute,
              double busiest) {
  const Price& price = tables.price(collective, tables.placement(communicator), true);
  // Alone a collective runs at its price, whatever the nominal rate of the NIC.
  const double nic = tables.cluster.node.nic_bandwidth.value;
  double weight = price.nic_bytes * std::max(1.0, busiest);
  if (nic > 0) weight = std::min(weight, nic / price.bandwidth);
  const double rate = price.bandwidth / (beside_compute ? tables.job.comm_slowdown : 1);
  return {static_cast<double>(tables.job.collectives[collective].size.value) * weight, rate * weight};
}

std::vector<FluidNetwork::Use> uses_in_domain(const Tables& tables, std::uint32_t communicator, std::uint32_t domain,
                                              cost::Collective kind, const std::vector<std::uint32_t>& links) {
  const double busiest = busiest_nic(tables, communicator, kind);
  std::vector<FluidNetwork::Use> result;
  const auto add = [&](std::uint32_t link, double weight, std::uint32_t order) {
    const auto place = std::lower_bound(links.begin(), links.end(), link);
    if (place == links.end() || *place != link) return;
    result.push_back({static_cast<std::uint32_t>(place - links.begin()), weight / busiest, order});
  };
  if (tables.options.folding) {
    for (const auto& use : tables.options.folding->uses(communicator, kind))
      add(use.link, use.weight, use.communicator);
  } else if (const auto* spread = spread_of(tables, communicator, kind)) {
    const auto part = std::lower_bound(spread->parts.begin(), spread->parts.end(), domain,
                                       [](const auto& entry, std::uint32_t sought) { return entry.first < sought; });
    if (part != spread->parts.end() && part->first == domain) {
      for (const auto& use : part->second) add(use.link, use.weight, communicator);
    }
  } else {
    for (const auto& use : all_uses(tables, communicator, kind)) add(use.link, use.weight, communicator);
  }
  return result;
}

}  // namespace proteus::executor
