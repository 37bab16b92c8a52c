// SPDX-License-Identifier: Apache-2.0
#include "stop.hpp"

#include <csignal>

namespace proteus::cli {
namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void request_stop(int) { requested = 1; }

}  // namespace

void stop_on_signals() {
  std::signal(SIGTERM, request_stop);
  std::signal(SIGUSR1, request_stop);
}

bool stop_requested() { return requested != 0; }

}  // namespace proteus::cli
