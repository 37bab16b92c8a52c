// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hdf5_handle.hpp"
#include "proteus/io/event_counts.hpp"

namespace proteus::io {

/// Below /engine, where runs with equal results may differ: folded ones have none. Throws OutputError.
void write_event_counts(hid_t file, const EventCounts& counts);

}  // namespace proteus::io
