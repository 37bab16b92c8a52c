// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace proteus::property {

/// An experiment file whose strategy nobody would write: a small model on a mesh of four axes, ops split along whatever
/// dims by whatever axes. Only some of them fit; the others must be refused with an error that names what does not.
std::string random_strategy(std::uint64_t seed);

}  // namespace proteus::property
