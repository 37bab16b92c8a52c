// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "proteus/analysis/summary.hpp"

namespace proteus::analysis {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

/// A time in the unit in which it reads best.
std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

class Table {
 public:
  void line(const std::string& key, const std::string& value) {
    fmt::format_to(std::back_inserter(text_), "  {:<26} {}\n", key, value);
  }
  void heading(const std::string& name) { fmt::format_to(std::back_inserter(text_), "{}\n", name); }
  void share(const std::string& key, double seconds, double total) {
    const int width = total > 0 ? static_cast<int>(std::lround(40 * seconds / total)) : 0;
    fmt::format_to(std::back_inserter(text_), "  {:<26} {:>12} {:>6.1f} %  {}\n", key, duration(seconds),
                   total > 0 ? 100 * seconds / total : 0.0,
                   std::string(static_cast<std::size_t>(std::max(0, width)), '#'));
  }
  std::string text_;
};

std::string shares(const std::map<std::string, double>& by_kind) {
  std::string text;
  for (const auto& [name, share] : by_kind) {
    if (share > 0) text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * share);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::string to_text(const Summary& s) {
  Table table;
  table.heading("performance");
  table.line("iteration time", duration(s.iteration_time_s));
  if (s.tokens_per_s > 0) table.line("tokens/s", fmt::format("{:.0f}", s.tokens_per_s));
  table.line("samples/s", fmt::format("{:.3f}", s.samples_per_s));
  table.line("model TFLOP/s per GPU", fmt::format("{:.1f}", s.model_tflops_per_gpu));
  table.line("MFU", fmt::format("{:.1f} %", 100 * s.mfu));

  const BreakdownSeconds& b = s.breakdown;
  table.heading(fmt::format("where the time goes (mean of {} GPUs, last iteration)", s.devices));
  table.share("compute", b.compute, b.total());
  for (const auto& [kind, seconds] : b.exposed) {
    if (seconds > 0) table.share("exposed " + kind, seconds, b.total());
  }
  table.share("pipeline bubble", b.bubble, b.total());
  table.share("host", b.host, b.total());
  table.share("other (skew, idle)", b.skew + b.idle, b.total());

  table.heading("memory per GPU, GiB");
  fmt::format_to(std::back_inserter(table.text_), "  {:<10} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  of {:.1f}\n",
                 "class", "GPUs", "params", "grads", "optim", "activ", "other", "peak",
                 static_cast<double>(s.capacity.value) / gib);
  for (const ClassSummary& c : s.classes) {
    const auto size = [](Bytes bytes) { return static_cast<double>(bytes.value) / gib; };
    const graph::MemoryPlan& m = c.memory;
    fmt::format_to(
        std::back_inserter(table.text_), "  {:<10} {:>6} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f}{}\n",
        c.name, c.devices, size(m.parameters), size(m.gradients), size(m.optimizer), size(m.activations),
        size(m.temporaries + m.communication + m.context), size(m.peak),
        m.peak > s.capacity
            ? "  OUT OF MEMORY in " + m.peak_phase + ", " + m.peak_op + "; largest: " + m.largest.front().first
            : "");
  }

  const EngineSummary& e = s.engine;
  table.heading("what it rests on");
  table.line("compute", shares(s.compute_share));
  table.line("communication", shares(s.communication_share));
  table.heading("simulation");
  table.line("state hash", e.state_hash);
  table.line("ranks", fmt::format("{} ({})", e.ranks, e.mode));
  if (e.fold != "none") {
    table.line("folded", fmt::format("{}: {} GPUs stand for {}", e.fold, e.devices_simulated, s.devices));
    for (const std::string& assumption : e.assumptions) table.line("  assumes", assumption);
    if (e.fold == "approx" && e.assumptions.empty()) table.line("  assumes", "nothing: exact folding gives the same");
  }
  if (e.foldable_to > 0) {
    table.line("hint", fmt::format("--fold exact gives the same from {} of {} GPUs", e.foldable_to, s.devices));
  }
  table.line("rows, events", fmt::format("{}, {}", e.rows, e.events));
  if (e.windows > 0) {
    table.line("windows", fmt::format("{}, perfect promises would have needed {}", e.windows, e.perfect_windows));
  }
  table.line("messages", fmt::format("{} local, {} between ranks", e.messages_local, e.messages_remote));
  table.line("wall time",
             fmt::format("{} compile, {} simulate ({} handling events, {} synchronizing on the slowest rank)",
                         duration(e.seconds_compile), duration(e.seconds), duration(e.seconds_events),
                         duration(e.seconds_synchronization)));
  return table.text_;
}

}  // namespace proteus::analysis
