// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>

#include "proteus/engine/transport.hpp"

namespace proteus::engine {

/// One rank a process of `communicator`, which is duplicated.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator);

}  // namespace proteus::engine
