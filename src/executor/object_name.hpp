// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "proteus/graph/program.hpp"
#include "proteus/partition/objects.hpp"

namespace proteus::executor {

/// "island 12", "communicator data #3", "fabric domain 0": the same on every rank, whoever hosts it.
std::string object_name(const graph::Job& job, const partition::Objects& objects, std::uint32_t object);

}  // namespace proteus::executor
