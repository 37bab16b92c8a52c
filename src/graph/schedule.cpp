// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <algorithm>

namespace proteus::graph {
namespace {

using strategy::PassKind;

Slot slot_of(PassKind kind, std::int64_t chunk, std::int64_t micro_batch) {
  return {{kind, chunk, micro_batch}, false};
}

PassKind direction(bool forward) { return forward ? PassKind::forward : PassKind::backward; }

std::vector<Slot> gpipe(const Pipeline& p) {
  std::vector<Slot> slots;
  for (std::int64_t mb = 0; mb < p.micro_batches; ++mb) slots.push_back(slot_of(PassKind::forward, 0, mb));
  for (std::int64_t mb = 0; mb < p.micro_batches; ++mb) slots.push_back(slot_of(PassKind::backward, 0, mb));
  return slots;
}

/// Warm-up forwards, then one forward and one backward in turn, then what backwards remain. `total` virtual
/// micro-batches; `slot(k, forward)` names the k-th of a direction; `paired`: as Slot::paired.
template <typename SlotOf>
std::vector<Slot> one_forward_one_backward(std::int64_t warm_up, std::int64_t total, bool paired, SlotOf slot) {
  std::vector<Slot> slots;
  for (std::int64_t k = 0; k < warm_up; ++k) slots.push_back(slot(k, true));
  for (std::int64_t k = warm_up; k < total; ++k) {
    slots.push_back(slot(k, true));
    slots.push_back(slot(k - warm_up, false));
    slots.back().paired = paired;
  }
  for (std::int64_t k = total - warm_up; k < total; ++k) slots.push_back(slot(k, false));
  return slots;
}

std::vector<Slot> zb_h1(const Pipeline& p, std::int64_t stage) {
  std::vector<Slot> slots;
  const std::int64_t warm_up = std::min(p.stages - stage - 1, p.micro_batches);
  std::int64_t forwards = 0, weights = 0;
  const auto forward = [&] { slots.push_back(slot_of(PassKind::forward, 0, forwards++)); };
  const auto weight = [&] { slots.push_back(slot_of(PassKind::weight_gradient, 0, weights++)); };
  while (forwards < warm_up) forward();
  for (std::int64_t k = 0; k < p.micro_batches; ++k) {
    const bool steady = forwards < p.micro_batches;
    if (steady) forward();
    slots.push_back(slot_of(PassKind::input_gradient, 0, k));
    if (!steady || k >= stage) weight();
  }
  while (weights < p.micro_batches) weight();
  return slots;
}

}  // namespace

std::vector<Slot> schedule(strategy::SchedulePolicy policy, const Pipeline& p, std::int64_t stage) {
  switch (policy) {
    case strategy::SchedulePolicy::gpipe:
      return gpipe(p);
    case strategy::SchedulePolicy::one_f_one_b:
      return one_forward_one_backward(std::min(p.stages - stage - 1, p.micro_batches), p.micro_batches, false,
                                      [](std::int64_t k, bool forward) { return slot_of(direction(forward), 0, k); });
    case strategy::SchedulePolicy::interleaved_1f1b: {
      const std::int64_t total = p.micro_batches * p.chunks;
      // All chunks of a group of `stages` micro-batches come before the next group.
      const auto slot = [&](std::int64_t k, bool forward) {
        const std::int64_t group = k / (p.stages * p.chunks);
        const std::int64_t within = k % (p.stages * p.chunks);
        const std::int64_t chunk = within / p.stages;
        return slot_of(direction(forward), forward ? chunk : p.chunks - 1 - chunk,
                       group * p.stages + within % p.stages);
      };
      const std::int64_t warm_up = std::min((p.stages - stage - 1) * 2 + (p.chunks - 1) * p.stages, total);
      const bool all_forwards = p.all_forwards_first && p.micro_batches == p.stages;
      return one_forward_one_backward(all_forwards ? total : warm_up, total, true, slot);
    }
    case strategy::SchedulePolicy::zb_h1:
      return zb_h1(p, stage);
    case strategy::SchedulePolicy::listed:
      break;
  }
  return {};
}

}  // namespace proteus::graph
