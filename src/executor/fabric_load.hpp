// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "fluid_network.hpp"
#include "tables.hpp"

namespace proteus::executor {

/// What a collective asks of the fabric, in bytes on its busiest NIC: so that collectives share a NIC by bytes, as
/// their packets do.
struct Demand {
  double work = 0;
  double rate = 0;  ///< alone
};

/// Largest weight that a communicator puts on a NIC with collectives of a kind.
double busiest_nic(const Tables& tables, std::uint32_t communicator, cost::Collective kind);

Demand demand(const Tables& tables, std::uint32_t communicator, std::uint32_t collective, bool beside_compute,
              double busiest);

/// How a communicator loads the links of one of its domains for each byte on its busiest NIC. `links`: numbers of the
/// domain's links, ascending; the result counts in them.
std::vector<FluidNetwork::Use> uses_in_domain(const Tables& tables, std::uint32_t communicator, std::uint32_t domain,
                                              cost::Collective kind, const std::vector<std::uint32_t>& links);

}  // namespace proteus::executor
