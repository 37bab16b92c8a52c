// SPDX-License-Identifier: Apache-2.0
// The hold model (Jones: An empirical comparison of priority-queue and event-set implementations, CACM 29(4), 1986):
// the earliest event is taken and comes back later by an exponential increment, at a constant number of pending events.
#include <benchmark/benchmark.h>

#include <cmath>
#include <queue>
#include <random>
#include <vector>

#include "binary_heap.hpp"
#include "radix_heap.hpp"

namespace proteus::engine {
namespace {

/// What the standard library brings, without the checks that ours make.
class Bare {
 public:
  const Event& top() const { return queue_.top(); }
  void push(const Event& event) { queue_.push(event); }
  Event pop() {
    Event event = queue_.top();
    queue_.pop();
    return event;
  }

 private:
  struct After {
    bool operator()(const Event& a, const Event& b) const { return b < a; }
  };
  std::priority_queue<Event, std::vector<Event>, After> queue_;
};

/// Increments as PHOLD draws them: 0.1 us and an exponential of mean 1 us. Drawn beforehand, to time the queue alone.
std::vector<std::int64_t> increments() {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> exponential(1e-6);
  std::vector<std::int64_t> result(1 << 16);
  for (auto& increment : result) increment = 100'000 + std::llround(exponential(random));
  return result;
}

template <typename Queue>
void hold(benchmark::State& state) {
  const auto steps = increments();
  Queue queue;
  std::uint32_t number = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    Event event;
    event.time_ps = steps[static_cast<std::size_t>(i) % steps.size()];
    event.instance = number++;
    queue.push(event);
  }
  std::size_t next = 0;
  for (auto _ : state) {
    Event event = queue.pop();
    event.time_ps += steps[next++ % steps.size()];
    queue.push(event);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(hold<Bare>)->Name("hold/priority_queue")->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 20);
BENCHMARK(hold<BinaryHeap>)->Name("hold/binary")->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 20);
BENCHMARK(hold<RadixHeap>)->Name("hold/radix")->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 20);

}  // namespace
}  // namespace proteus::engine

BENCHMARK_MAIN();
