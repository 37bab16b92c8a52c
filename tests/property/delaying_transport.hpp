// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "proteus/engine/transport.hpp"

namespace proteus::property {

/// All ranks in this process; messages arrive in random order and, a third of them, some exchanges late. Until one
/// has arrived, the bound stays in front of it: everything a transport must keep, and nothing more.
std::unique_ptr<engine::Transport> make_delaying_transport(int ranks, std::uint64_t seed);

}  // namespace proteus::property
