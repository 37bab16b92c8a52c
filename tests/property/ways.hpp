// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "small_job.hpp"

namespace proteus::property {

/// Every way that must give the same: {1, 2, 3, 4, 7, 16} ranks under each policy, and a rank for each logical process,
/// with both queues and all kinds of travel.
std::uint64_t count_of_ways();
Way way_number(std::uint64_t number);

/// Numbers of the ways in which the job of a seed is run: seeds that follow each other go through all of them, in
/// strides that mix ranks, policies, queues and travel, as often as each other.
std::vector<std::uint64_t> ways_of(std::uint64_t seed);

/// The way of that number with random numbers of its own: of partitions, of disturbances, of budgets. Every third run
/// ends its windows after a few events.
Way drawn_way(std::uint64_t seed, std::uint64_t number);

}  // namespace proteus::property
