// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "launcher.hpp"
#include "proteus/io/experiment.hpp"
#include "proteus/io/output_file.hpp"
#include "simulate_settings.hpp"

namespace proteus::cli {

/// Told before the run rather than after it. Throws UsageError where an output would replace what the run reads or the
/// other output, OutputError where one could not be written.
void check_outputs(const SimulateSettings& settings, const io::Experiment& experiment);

/// Collective: the file of the JSON summary on rank 0, nothing elsewhere or where none is wanted. Throws OutputError on
/// all ranks where it cannot be written.
std::unique_ptr<io::OutputFile> open_json(const SimulateSettings& settings, const MpiSession& mpi);

}  // namespace proteus::cli
