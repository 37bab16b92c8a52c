// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "proteus/base/error.hpp"
#include "proteus/executor/simulation.hpp"

namespace proteus::executor {
namespace {

/// Every field but idle, in the order in which a surplus is taken off.
template <typename Breakdown_, typename Visit>
void visit_busy(Breakdown_& breakdown, Visit visit) {
  visit(breakdown.bubble);
  visit(breakdown.skew);
  visit(breakdown.host);
  for (auto& exposed : breakdown.exposed) visit(exposed);
  visit(breakdown.compute);
}

void add(Breakdown& sum, const Breakdown& other) {
  sum.compute += other.compute;
  for (std::size_t i = 0; i < sum.exposed.size(); ++i) sum.exposed[i] += other.exposed[i];
  sum.bubble += other.bubble;
  sum.skew += other.skew;
  sum.host += other.host;
}

void fill_idle(ClassResult& result, Time iteration) {
  TimeSum rest = TimeSum(iteration) * result.devices;
  visit_busy(result.sum, [&](const TimeSum& part) { rest -= part; });
  result.sum.idle = std::max(rest, TimeSum{});
  visit_busy(result.sum, [&](TimeSum& part) {
    if (rest >= TimeSum{}) return;
    TimeSum taken = std::min(part, TimeSum{} - rest);
    part -= taken;
    rest += taken;
  });
}

}  // namespace

Result merge(std::span<const Result> ranks) {
  Result all;
  for (const Result& rank : ranks) {
    if (rank.iteration_end.size() > all.iteration_end.size()) all.iteration_end.resize(rank.iteration_end.size());
    for (std::size_t i = 0; i < rank.iteration_end.size(); ++i) {
      all.iteration_end[i] = std::max(all.iteration_end[i], rank.iteration_end[i]);
    }
    if (rank.classes.size() > all.classes.size()) all.classes.resize(rank.classes.size());
    for (std::size_t i = 0; i < rank.classes.size(); ++i) {
      all.classes[i].devices += rank.classes[i].devices;
      add(all.classes[i].sum, rank.classes[i].sum);
    }
    all.hash.merge(rank.hash);
    all.rows += rank.rows;
    all.collectives += rank.collectives;
  }
  if (!all.iteration_end.empty()) {
    std::size_t last = all.iteration_end.size() - 1;
    Time length = all.iteration_end[last] - (last > 0 ? all.iteration_end[last - 1] : Time::zero());
    for (ClassResult& result : all.classes) fill_idle(result, length);
  }
  return all;
}

std::vector<std::int64_t> pack(const Result& result) {
  std::vector<std::int64_t> words{static_cast<std::int64_t>(result.iteration_end.size()),
                                  static_cast<std::int64_t>(result.classes.size())};
  for (Time end : result.iteration_end) words.push_back(end.ps());
  for (const ClassResult& part : result.classes) {
    words.push_back(part.devices);
    const auto push = [&](const TimeSum& sum) {
      words.push_back(sum.high());
      words.push_back(sum.low());
    };
    visit_busy(part.sum, push);
    push(part.sum.idle);
  }
  for (std::uint64_t word : {result.hash.high, result.hash.low, result.rows, result.collectives}) {
    words.push_back(static_cast<std::int64_t>(word));
  }
  return words;
}

Result unpack(std::span<const std::int64_t> words) {
  auto take = [&words]() {
    if (words.empty()) throw SimulationError("the packed result of a rank is too short");
    std::int64_t word = words.front();
    words = words.subspan(1);
    return word;
  };
  auto take_count = [&take, &words]() {
    std::int64_t count = take();
    if (count < 0 || static_cast<std::size_t>(count) > words.size()) {
      throw SimulationError("the packed result of a rank is broken");
    }
    return static_cast<std::size_t>(count);
  };
  Result result;
  result.iteration_end.resize(take_count());
  result.classes.resize(take_count());
  for (Time& end : result.iteration_end) end = Time::picoseconds(take());
  for (ClassResult& part : result.classes) {
    part.devices = take();
    const auto take_sum = [&](TimeSum& sum) {
      const std::int64_t high = take();
      sum = TimeSum::from_words(high, take());
    };
    visit_busy(part.sum, take_sum);
    take_sum(part.sum.idle);
  }
  for (std::uint64_t* word : {&result.hash.high, &result.hash.low, &result.rows, &result.collectives}) {
    *word = static_cast<std::uint64_t>(take());
  }
  if (!words.empty()) throw SimulationError("the packed result of a rank is too long");
  return result;
}

}  // namespace proteus::executor
