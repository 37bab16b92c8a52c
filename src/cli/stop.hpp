// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace proteus::cli {

/// From now on SIGTERM and SIGUSR1 ask the run to stop.
void stop_on_signals();
bool stop_requested();

}  // namespace proteus::cli
