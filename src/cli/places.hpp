// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launcher.hpp"
#include "proteus/partition/placement.hpp"

namespace proteus::cli {

/// Collective: where the ranks of the job run, by rank, on rank 0; nothing elsewhere.
std::vector<partition::RankPlace> gather_places(const MpiSession& mpi);

}  // namespace proteus::cli
