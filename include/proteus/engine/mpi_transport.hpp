// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proteus/engine/transport.hpp"

namespace proteus::engine {

/// How messages and the bound travel in one exchange. Results do not depend on it.
enum class MpiExchange : std::uint8_t {
  automatic,   ///< chosen by the ranks together: all_to_all for few ranks that all talk to each other, neighbours where
               ///< nobody has more than some 32 of them, sparse otherwise
  all_to_all,  ///< bound and counts in one collective, then messages where there are any
  neighbours,  ///< one message to each neighbour, empty or not, beside the reduction of the bound
  sparse,      ///< messages only where there are any, received until the reduction of the bound says that all are there
};

/// Collective. One rank a process of `communicator`, which is duplicated. `destinations`: the ranks that this one may
/// send messages to, where all ranks know theirs; nothing: anybody. A message to another rank throws std::logic_error.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator,
                                              const std::optional<std::vector<int>>& destinations = std::nullopt,
                                              MpiExchange exchange = MpiExchange::automatic);

}  // namespace proteus::engine
