// SPDX-License-Identifier: Apache-2.0
// PHOLD (Fujimoto: Performance of Time Warp under synthetic workloads, 1990): a fixed population of events that hop
// between processes after a lookahead plus an exponential delay.
//   phold [name=value]...
// `exchange`: an MpiExchange by number.
// One process: `ranks` virtual ranks, 0 for the sequential loop. Under mpirun: one rank a process.
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "../unit/engine/hosting.hpp"
#include "proteus/base/hash.hpp"
#include "proteus/engine/mpi_transport.hpp"

namespace proteus::engine::testing {
namespace {

struct Options {
  std::map<std::string, double> values{{"processes", 4096}, {"events", 16},        {"end_us", 6}, {"remote", 0.1},
                                       {"mean_us", 1},      {"lookahead_us", 0.1}, {"ranks", 1},  {"exchange", 0}};

  double operator[](const std::string& name) const { return values.at(name); }
  std::uint32_t processes() const { return static_cast<std::uint32_t>(values.at("processes")); }

  bool parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      std::string text = argv[i];
      auto found = values.find(text.substr(0, text.find('=')));
      if (found == values.end() || text.find('=') == std::string::npos) return false;
      found->second = std::stod(text.substr(text.find('=') + 1));
    }
    return true;
  }
};

class PholdProcess final : public LogicalProcess {
 public:
  PholdProcess(const Options& options, std::uint32_t object)
      : object_(object),
        stream_(mix64(object + 1)),
        population_(static_cast<int>(options["events"])),
        processes_(options.processes()),
        end_(Time::microseconds(options["end_us"])),
        lookahead_(Time::microseconds(options["lookahead_us"])),
        mean_us_(options["mean_us"]),
        remote_(options["remote"]) {}

  void start(Scheduler& scheduler) override {
    for (int i = 0; i < population_; ++i) keep(scheduler, delay());
  }

  void handle(const Event& event, Scheduler& scheduler) override {
    ++handled_;
    rolling_ = mix64(rolling_ * 31 + static_cast<std::uint64_t>(event.time_ps));
    Time when = event.time() + delay();
    if (when >= end_) return;
    const std::uint32_t peer = uniform() < remote_ ? static_cast<std::uint32_t>(random() % processes_) : object_;
    if (peer != object_) {
      scheduler.send({.time_ps = when.ps(), .object = peer, .instance = object_, .member = counter_++});
    } else {
      keep(scheduler, when);
    }
  }

  // It cannot know more than the engine does: its next event may go anywhere.
  Promise promise() const override { return {}; }
  bool finished() const override { return true; }
  std::vector<std::string> blocked() const override { return {}; }
  std::string name() const override { return fmt::format("process {}", object_); }

  void add_to(StateHash& hash) const { hash.add(object_, handled_, rolling_, counter_); }

 private:
  std::uint64_t random() { return mix64(stream_ + 0x9e3779b97f4a7c15ULL * ++draws_); }
  double uniform() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  Time delay() { return lookahead_ + Time::microseconds(-mean_us_ * std::log(1 - uniform())); }
  void keep(Scheduler& scheduler, Time when) {
    scheduler.schedule({.time_ps = when.ps(), .priority = 1, .instance = counter_++});
  }

  std::uint32_t object_;
  std::uint64_t stream_;  ///< of random numbers, its own
  int population_;
  std::uint32_t processes_;
  Time end_;
  Time lookahead_;
  double mean_us_;
  double remote_;
  std::uint64_t draws_ = 0;
  std::uint64_t handled_ = 0;
  std::uint64_t rolling_ = 0;
  std::uint32_t counter_ = 0;
};

/// Sums over the ranks of this process; reduced over MPI where there is any.
struct Totals {
  std::uint64_t sums[4]{};  // events, remote messages, hash lanes
  double synchronization = 0;
  std::uint64_t windows = 0;

  explicit Totals(const std::vector<LocalEngine>& engines) {
    StateHash hash;
    for (const LocalEngine& engine : engines) {
      const Statistics& statistics = engine.statistics();
      sums[0] += statistics.events;
      sums[1] += statistics.messages_remote;
      synchronization = std::max(synchronization, statistics.seconds_synchronization);
      windows = std::max(windows, statistics.windows);
      for (const auto& process : engine.processes()) dynamic_cast<const PholdProcess&>(*process).add_to(hash);
    }
    sums[2] = hash.high;
    sums[3] = hash.low;
    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &synchronization, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
};

void run(const Options& options, int rank, int processes_of_mpi) {
  int ranks = processes_of_mpi > 1 ? processes_of_mpi : static_cast<int>(options["ranks"]);
  Factory factory = [&options](std::uint32_t object) { return std::make_unique<PholdProcess>(options, object); };
  Owners owner = block_owners(options.processes(), static_cast<std::uint32_t>(std::max(ranks, 1)));
  Time lookahead = Time::microseconds(options["lookahead_us"]);
  std::vector<LocalEngine> engines;
  if (processes_of_mpi > 1) {
    engines.push_back(host(factory, std::make_shared<const Owners>(owner), lookahead, rank));
  } else {
    engines = host_all(factory, owner, lookahead, std::max(ranks, 1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  auto begin = std::chrono::steady_clock::now();
  if (ranks == 0) {
    run_sequential(engines[0], {});
  } else {
    auto transport = processes_of_mpi > 1
                         ? make_mpi_transport(MPI_COMM_WORLD, std::nullopt,
                                              static_cast<MpiExchange>(static_cast<int>(options["exchange"])))
                         : make_in_process_transport(ranks);
    run_windows(engines, *transport, {});
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  Totals totals(engines);
  if (rank != 0) return;
  std::cout << fmt::format(
      "ranks {} ({})  events {}  seconds {:.3f}  events/s {:.3g}  windows {}  remote messages {}  synchronization "
      "{:.3f} s"
      "  hash {}\n",
      ranks,
      processes_of_mpi > 1 ? "MPI"
      : ranks > 0          ? "virtual"
                           : "sequential",
      totals.sums[0], seconds.count(), static_cast<double>(totals.sums[0]) / seconds.count(), totals.windows,
      totals.sums[1], totals.synchronization, StateHash{.high = totals.sums[2], .low = totals.sums[3]}.to_string());
}

}  // namespace
}  // namespace proteus::engine::testing

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  proteus::engine::testing::Options options;
  bool valid = options.parse(argc, argv);
  if (valid) {
    proteus::engine::testing::run(options, rank, size);
  } else if (rank == 0) {
    std::cerr << "phold [name=value]..., names and defaults:\n";
    for (const auto& [name, value] : options.values) std::cerr << fmt::format("  {}={}\n", name, value);
  }
  MPI_Finalize();
  return valid ? 0 : 2;
}
