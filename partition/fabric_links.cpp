// SPDX-License-Identifier: Apache-2.0
#include "proteus/partition/fabric_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace proteus::partition {
namespace {

/// One entry a link, ascending; what does not leave a node may have put weights of zero there.
void merge(std::vector<FabricLinks::Use>& uses) {
  std::stable_sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.link < b.link; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < uses.size(); ++i) {
    if (uses[i].link == uses[last].link) {
      uses[last].weight += uses[i].weight;
    } else {
      uses[++last] = uses[i];
    }
  }
  if (!uses.empty()) uses.resize(last + 1);
  std::erase_if(uses, [](const auto& use) { return use.weight <= 0; });
}

}  // namespace

FabricLinks::FabricLinks(const cluster::Cluster& cluster)
    : gpus_(std::max(1, cluster.node.gpus)),
      nics_(cluster.node.nics),
      nodes_per_leaf_(cluster.fabric.nodes_per_leaf > 0 ? cluster.fabric.nodes_per_leaf : std::max(1, cluster.nodes)),
      rail_optimized_(cluster.fabric.kind == cluster::FabricKind::rail_optimized_fat_tree),
      first_uplink_(static_cast<std::uint32_t>(2 * std::max(0, cluster.nodes) * std::max(0, cluster.node.nics))),
      nic_(cluster.node.nic_bandwidth) {
  if (cluster.fabric.oversubscription <= 1 || nodes_per_leaf_ >= cluster.nodes || nics_ == 0) return;
  leaves_ = static_cast<std::uint32_t>((cluster.nodes + nodes_per_leaf_ - 1) / nodes_per_leaf_);
  rails_ = rail_optimized_ ? static_cast<std::uint32_t>(nics_) : 1;
  double down = nic_.value * nodes_per_leaf_ * (rail_optimized_ ? 1 : nics_);
  uplink_ = {down / cluster.fabric.oversubscription};
}

std::string FabricLinks::name(std::uint32_t link) const {
  bool second = link % 2 == 1;
  if (is_nic(link)) {
    auto nics = static_cast<std::uint32_t>(nics_);
    return fmt::format("NIC {} of node {}, {}", link / 2 % nics, link / 2 / nics, second ? "in" : "out");
  }
  std::uint32_t number = (link - first_uplink_) / 2;
  return fmt::format("leaf {} rail {}, {}", number / rails_, number % rails_, second ? "down" : "up");
}

FabricLinks::Port FabricLinks::port(std::int64_t device) const {
  return {device / gpus_, device % gpus_ * nics_ / gpus_};
}

std::uint32_t FabricLinks::leaf(const Port& port) const {
  return static_cast<std::uint32_t>(port.node / nodes_per_leaf_);
}

std::uint32_t FabricLinks::up(const Port& port) const {
  std::uint32_t rail = rail_optimized_ ? static_cast<std::uint32_t>(port.nic) : 0;
  return first_uplink_ + 2 * (leaf(port) * rails_ + rail);
}

void FabricLinks::cross(const Port& from, const Port& to, double weight, std::vector<Use>& uses) const {
  if (leaves_ == 0) return;
  bool same_rail = !rail_optimized_ || from.nic == to.nic;
  if (same_rail && leaf(from) == leaf(to)) return;
  uses.push_back({up(from), weight});
  uses.push_back({up(to) + 1, weight});
}

void FabricLinks::ring(const std::vector<Port>& ports, std::vector<Use>& uses) const {
  for (const Port& p : ports) {
    uses.push_back({out(p), 1});
    uses.push_back({out(p) + 1, 1});
  }
  if (leaves_ == 0) return;
  // A ring enters each node once; every NIC there sends to the same NIC of the next node.
  std::vector<std::int64_t> order;
  std::map<std::int64_t, std::vector<Port>> by_node;
  for (const Port& p : ports) {
    auto& there = by_node[p.node];
    if (there.empty()) order.push_back(p.node);
    there.push_back(p);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& from = by_node[order[i]];
    const auto& to = by_node[order[(i + 1) % order.size()]];
    for (std::size_t k = 0; k < from.size(); ++k) {
      const Port& target = to[k * to.size() / from.size()];
      auto same = std::find_if(to.begin(), to.end(), [&](const Port& p) { return p.nic == from[k].nic; });
      cross(from[k], same == to.end() ? target : *same, 1, uses);
    }
  }
}

void FabricLinks::all_to_all(const std::vector<Port>& ports, std::vector<Use>& uses) const {
  std::map<std::int64_t, std::int64_t> on_node;
  std::map<std::uint32_t, std::int64_t> on_switch;  // keyed by uplink: what hangs there is reached without a spine
  std::map<std::pair<std::int64_t, std::uint32_t>, std::int64_t> on_both;
  auto leaf_switch = [this](const Port& p) { return leaves_ == 0 ? 0 : up(p); };
  for (const Port& p : ports) {
    ++on_node[p.node];
    ++on_switch[leaf_switch(p)];
    ++on_both[{p.node, leaf_switch(p)}];
  }
  auto members = static_cast<std::int64_t>(ports.size());
  for (const Port& p : ports) {
    uses.push_back({out(p), 1});
    uses.push_back({out(p) + 1, 1});
    std::int64_t remote = members - on_node[p.node];
    if (leaves_ == 0 || remote == 0) continue;
    std::int64_t near = on_switch[leaf_switch(p)] - on_both[{p.node, leaf_switch(p)}];
    double share = static_cast<double>(remote - near) / static_cast<double>(remote);
    uses.push_back({up(p), share});
    uses.push_back({up(p) + 1, share});
  }
}

std::vector<FabricLinks::Use> FabricLinks::uses(const graph::CommunicatorFamily& family, std::int64_t group,
                                                cost::Collective kind) const {
  std::vector<Use> result;
  if (nics_ == 0) return result;
  std::vector<Port> ports;
  for (std::int64_t member = 0; member < family.members(); ++member) {
    ports.push_back(port(family.device(group, member)));
  }
  if (kind == cost::Collective::send_receive) {
    if (ports.size() == 2 && ports[0].node != ports[1].node) {
      result.push_back({out(ports[0]), 1});
      result.push_back({out(ports[1]) + 1, 1});
      cross(ports[0], ports[1], 1, result);
    }
  } else if (kind == cost::Collective::all_to_all) {
    all_to_all(ports, result);
  } else {
    ring(ports, result);
  }
  merge(result);
  return result;
}

}  // namespace proteus::partition
