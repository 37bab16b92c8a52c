// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "proteus/graph/program.hpp"
#include "proteus/partition/assignment.hpp"

namespace proteus::partition {

/// Ranks that exchange messages with `rank`, ascending, without itself. Messages only go between a communicator and the
/// islands of its members, and between a communicator and its fabric domains, in both directions.
std::vector<int> neighbours(const graph::Job& job, const Assignment& assignment, int rank);

}  // namespace proteus::partition
