// SPDX-License-Identifier: Apache-2.0
#include "heartbeat.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "command.hpp"

namespace proteus::cli {
namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Heartbeat::Heartbeat(double seconds, std::uint64_t total_rows) : seconds_(seconds), total_rows_(total_rows) {}

bool Heartbeat::due() {
  if (seconds_ <= 0) return false;
  const auto now = Clock::now();
  if (seconds_between(last_due_, now) < seconds_) return false;
  last_due_ = now;
  return true;
}

std::string Heartbeat::line(std::span<const engine::Pulse> pulses) {
  const auto now = Clock::now();
  const double elapsed = std::max(1e-9, seconds_between(last_line_, now));
  last_line_ = now;
  last_.resize(pulses.size());
  Time simulated;
  std::uint64_t events = 0;
  std::uint64_t windows = 0;
  std::uint64_t rows = 0;
  double busiest = -1;
  std::size_t slowest = 0;
  for (std::size_t rank = 0; rank < pulses.size(); ++rank) {
    simulated = std::max(simulated, pulses[rank].now);
    events += pulses[rank].events - last_[rank].events;
    windows = std::max(windows, pulses[rank].windows - last_[rank].windows);
    rows += pulses[rank].rows;
    const double busy = pulses[rank].seconds_events - last_[rank].seconds_events;
    if (busy > busiest) {
      busiest = busy;
      slowest = rank;
    }
  }
  last_.assign(pulses.begin(), pulses.end());
  std::string text = fmt::format("simulated {:.6g} s", simulated.to_seconds());
  const double share = total_rows_ > 0 ? static_cast<double>(rows) / static_cast<double>(total_rows_) : 0;
  if (total_rows_ > 0) text += fmt::format(", {:.1f} % of rows", 100 * share);
  text += fmt::format(", {:.3g} events/s", static_cast<double>(events) / elapsed);
  if (pulses.size() > 1) {
    text += fmt::format(", {:.3g} windows/s, rank {} slowest ({:.0f} % busy)", static_cast<double>(windows) / elapsed,
                        slowest, std::min(100.0, 100 * busiest / elapsed));
  }
  if (share > 0) text += fmt::format(", {:.0f} s left", std::max(0.0, seconds_between(begin_, now) * (1 / share - 1)));
  return text;
}

double heartbeat_seconds(const double* asked) {
  // Often enough that nobody takes a run for dead, seldom enough to leave a terminal readable.
  constexpr double on_terminals = 5;
  if (asked == nullptr) return isatty(STDERR_FILENO) != 0 ? on_terminals : 0;
  if (!std::isfinite(*asked) || *asked < 0) throw UsageError("--heartbeat takes a number of seconds, 0 for never");
  return *asked;
}

}  // namespace proteus::cli
