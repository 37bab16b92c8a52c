// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proteus/io/experiment.hpp"
#include "yaml_read.hpp"

namespace proteus::io {

/// Section `simulate:` for a job of `devices` devices.
SimulateOptions read_simulate(const YamlItem& item, std::int64_t devices);

/// All options, also those at their defaults.
YamlValue simulate_to_yaml(const SimulateOptions& options);

}  // namespace proteus::io
