// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "prepared_job.hpp"

namespace proteus::cli {

enum class PrintFormat : std::uint8_t { text, json, dot };

// What `compile --print` shows, each in a file of its own. `dot` only where compile.cpp says so.

/// Mesh, annotations, stages and schedule without presets: YAML that can be edited and fed back, or JSON.
std::string print_tree(const PreparedJob& prepared, PrintFormat format);
/// The ops of the model: their dims and how they are split, the layouts between them and what changes those.
std::string print_graph(const PreparedJob& prepared, PrintFormat format);
/// Programs and phases with their ops, streams, times and waits.
std::string print_programs(const PreparedJob& prepared, PrintFormat format);
/// Every collective of an iteration: group, bytes, how often.
std::string print_collectives(const PreparedJob& prepared, PrintFormat format);
/// What a device of each class holds.
std::string print_memory(const PreparedJob& prepared, PrintFormat format);

}  // namespace proteus::cli
