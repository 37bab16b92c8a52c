// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace proteus::property {

/// An experiment file for a small random job: model, cluster, strategy and options vary, most degrees fit each other.
/// What does not fit is for the reader and the compiler to refuse; then the next `attempt` is another experiment.
/// The same text on every platform.
std::string random_experiment(std::uint64_t seed, int attempt);

}  // namespace proteus::property
