// SPDX-License-Identifier: Apache-2.0
#include "schedule_check.hpp"

#include <array>
#include <string>

namespace proteus::graph {
namespace {

using strategy::PassKind;
using strategy::text_of;

constexpr std::int64_t none = -1;

class Run {
 public:
  Run(const std::vector<std::vector<Slot>>& orders, const Placement& placement, std::int64_t micro_batches,
      const ExchangeRules& rules, const SourceLocation& where)
      : orders_(orders), placement_(placement), micro_batches_(micro_batches), rules_(rules), where_(where) {
    const auto count = static_cast<std::size_t>(placement.chunks() * micro_batches);
    for (auto& entries : entry_) entries.assign(count, none);
    lines_.resize(orders.size());
    next_.assign(orders.size(), 0);
  }

  void each_pass_once() {
    if (static_cast<std::int64_t>(orders_.size()) != placement_.stages()) {
      throw InputError(where_, "strategy.schedule", "an order for " + std::to_string(orders_.size()) + " stages",
                       "one for each of " + std::to_string(placement_.stages()) + " stages");
    }
    for (std::size_t stage = 0; stage < orders_.size(); ++stage) {
      for (std::size_t entry = 0; entry < orders_[stage].size(); ++entry) note(stage, entry);
    }
    for (std::int64_t chunk = 0; chunk < placement_.chunks(); ++chunk) {
      for (std::int64_t micro_batch = 0; micro_batch < micro_batches_; ++micro_batch) expect_whole(chunk, micro_batch);
    }
  }

  void comes_to_its_end() {
    for (std::size_t stage = 0; stage < orders_.size(); ++stage) {
      for (std::size_t entry = 0; entry < orders_[stage].size(); ++entry) list_transfers(stage, entry);
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < orders_.size(); ++stage) {
        while (compute(stage) || transfer(stage, 0) || transfer(stage, 1)) moved = true;
      }
    }
    for (std::size_t stage = 0; stage < orders_.size(); ++stage) {
      if (next_[stage] < orders_[stage].size())
        fail(stage, next_[stage], "can never run: " + reason(stage), "an order in which every pass finds its input");
    }
  }

 private:
  /// A stream between stages: the entries that use it, in order, and how many have gone through.
  struct Line {
    std::vector<std::size_t> entries;
    std::size_t done = 0;
    bool passed(std::size_t entry) const { return done == entries.size() || entries[done] > entry; }
    bool at(std::size_t entry) const { return done < entries.size() && entries[done] == entry; }
  };
  struct Lines {
    std::array<Line, 2> send, receive;  ///< forward, backward
  };

  [[noreturn]] void fail(std::size_t stage, std::size_t entry, const std::string& problem,
                         const std::string& expected) const {
    throw InputError(where_, "strategy.schedule",
                     "stage " + std::to_string(stage) + ", entry " + std::to_string(entry) + ", " +
                         text_of(orders_[stage][entry]) + ": " + problem,
                     expected);
  }

  std::size_t index(std::int64_t chunk, std::int64_t micro_batch) const {
    return static_cast<std::size_t>(chunk * micro_batches_ + micro_batch);
  }
  std::int64_t chunk_of(std::size_t stage, const Slot& slot) const {
    return placement_.chunk_at(static_cast<std::int64_t>(stage), slot.chunk);
  }
  std::size_t stage_of(std::int64_t chunk) const { return static_cast<std::size_t>(placement_.stage_of(chunk)); }

  void note(std::size_t stage, std::size_t entry) {
    const Slot& slot = orders_[stage][entry];
    if (slot.chunk < 0 || slot.chunk >= placement_.chunks_per_stage())
      fail(stage, entry, "no such chunk", "chunks 0 to " + std::to_string(placement_.chunks_per_stage() - 1));
    if (slot.micro_batch < 0 || slot.micro_batch >= micro_batches_)
      fail(stage, entry, "no such micro-batch", "micro-batches 0 to " + std::to_string(micro_batches_ - 1));
    const std::size_t at = index(chunk_of(stage, slot), slot.micro_batch);
    const int kind = slot.forward() ? forward : slot.weights_only() ? weights : backward;
    if (entry_[kind][at] != none) fail(stage, entry, "stands twice", "each pass once");
    if (kind == backward && entry_[forward][at] == none)
      fail(stage, entry, "comes before its forward pass", "F before B or I");
    if (kind == weights) {
      if (entry_[backward][at] == none) fail(stage, entry, "comes before its gradient", "I before W");
      if (orders_[stage][static_cast<std::size_t>(entry_[backward][at])].kind == PassKind::backward)
        fail(stage, entry, "B has the weight gradient already", "I and W, or B alone");
    }
    entry_[kind][at] = static_cast<std::int64_t>(entry);
  }

  void expect_whole(std::int64_t chunk, std::int64_t micro_batch) const {
    const std::size_t stage = stage_of(chunk), at = index(chunk, micro_batch);
    const auto missing = [&](PassKind kind) {
      throw InputError(
          where_, "strategy.schedule",
          "stage " + std::to_string(stage) + " never runs " + text_of({kind, placement_.local_of(chunk), micro_batch}),
          "every micro-batch through every chunk");
    };
    if (entry_[forward][at] == none) missing(PassKind::forward);
    if (entry_[backward][at] == none) missing(PassKind::backward);
    const Slot& slot = orders_[stage][static_cast<std::size_t>(entry_[backward][at])];
    if (!slot.completes_weights() && entry_[weights][at] == none) missing(PassKind::weight_gradient);
  }

  /// The chunk that gives `slot` its input, or takes its result, on another stage; none where there is none.
  std::int64_t source(std::size_t stage, const Slot& slot) const {
    const std::int64_t chunk = chunk_of(stage, slot);
    if (slot.weights_only()) return none;
    if (slot.forward()) return chunk > 0 && placement_.crosses(chunk - 1) ? chunk - 1 : none;
    return chunk + 1 < placement_.chunks() && placement_.crosses(chunk) ? chunk + 1 : none;
  }
  std::int64_t target(std::size_t stage, const Slot& slot) const {
    const std::int64_t chunk = chunk_of(stage, slot);
    if (slot.weights_only()) return none;
    if (!slot.forward()) return chunk > 0 && placement_.crosses(chunk - 1) ? chunk - 1 : none;
    return chunk + 1 < placement_.chunks() && placement_.crosses(chunk) ? chunk + 1 : none;
  }

  void list_transfers(std::size_t stage, std::size_t entry) {
    const Slot& slot = orders_[stage][entry];
    const std::size_t way = slot.forward() ? forward : backward;
    if (target(stage, slot) != none) lines_[stage].send[way].entries.push_back(entry);
    if (source(stage, slot) != none) lines_[stage].receive[way].entries.push_back(entry);
  }

  bool synchronous(const Slot& slot) const {
    return slot.forward() ? rules_.synchronous_forward : rules_.synchronous_backward;
  }

  /// What a pass needs from a neighbouring chunk of its own stage.
  bool has_local_input(std::size_t stage, const Slot& slot) const {
    const std::int64_t chunk = chunk_of(stage, slot);
    const std::int64_t from = slot.forward() ? chunk - 1 : chunk + 1;
    if (slot.weights_only() || from < 0 || from >= placement_.chunks() || source(stage, slot) != none) return true;
    const std::int64_t entry = entry_[slot.forward() ? forward : backward][index(from, slot.micro_batch)];
    return static_cast<std::size_t>(entry) < next_[stage];
  }

  bool sends_are_over(std::size_t stage, const Slot& slot) const {
    if (slot.weights_only() || slot.paired || !synchronous(slot)) return true;
    const std::size_t entry = next_[stage];
    const auto& send = lines_[stage].send;
    return (entry == 0) || (send[0].passed(entry - 1) && send[1].passed(entry - 1));
  }

  bool has_remote_input(std::size_t stage, const Slot& slot) const {
    return source(stage, slot) == none ||
           lines_[stage].receive[slot.forward() ? forward : backward].passed(next_[stage]);
  }

  bool compute(std::size_t stage) {
    if (next_[stage] == orders_[stage].size()) return false;
    const Slot& slot = orders_[stage][next_[stage]];
    if (!has_local_input(stage, slot) || !has_remote_input(stage, slot) || !sends_are_over(stage, slot)) return false;
    ++next_[stage];
    return true;
  }

  bool transfer(std::size_t stage, std::size_t way) {
    Line& line = lines_[stage].send[way];
    if (line.done == line.entries.size()) return false;
    const std::size_t sent = line.entries[line.done];
    if (sent >= next_[stage]) return false;
    const Slot& slot = orders_[stage][sent];
    const std::int64_t chunk = target(stage, slot);
    const std::size_t receiver = stage_of(chunk);
    const auto entry = static_cast<std::size_t>(entry_[way][index(chunk, slot.micro_batch)]);
    Line& other = lines_[receiver].receive[way];
    if (!other.at(entry)) return false;
    const Slot& taken = orders_[receiver][entry];
    const std::size_t early = taken.paired ? 1 : 0;
    if (synchronous(taken) && next_[receiver] + early < entry) return false;
    ++line.done;
    ++other.done;
    return true;
  }

  std::string reason(std::size_t stage) const {
    const Slot& slot = orders_[stage][next_[stage]];
    if (!has_local_input(stage, slot)) return "the chunk on the same stage that it needs comes behind it";
    if (has_remote_input(stage, slot)) return "what this stage sent before is never taken";
    const std::int64_t chunk = source(stage, slot);
    const std::size_t from = stage_of(chunk);
    const std::int64_t entry = entry_[slot.forward() ? forward : backward][index(chunk, slot.micro_batch)];
    return "its input is made by stage " + std::to_string(from) + ", entry " + std::to_string(entry) + ", " +
           text_of(orders_[from][static_cast<std::size_t>(entry)]) + ", and does not come in this order";
  }

  enum Way : std::uint8_t { forward = 0, backward = 1, weights = 2 };

  const std::vector<std::vector<Slot>>& orders_;
  const Placement& placement_;
  std::int64_t micro_batches_;
  const ExchangeRules& rules_;
  const SourceLocation& where_;
  std::array<std::vector<std::int64_t>, 3> entry_;  ///< by Way, of chunk and micro-batch: place in its stage's order
  std::vector<Lines> lines_;
  std::vector<std::size_t> next_;  ///< of each stage
};

}  // namespace

void check_schedule(const std::vector<std::vector<Slot>>& orders, const Placement& placement,
                    std::int64_t micro_batches, const ExchangeRules& rules, const SourceLocation& where) {
  Run run(orders, placement, micro_batches, rules, where);
  run.each_pass_once();
  run.comes_to_its_end();
}

}  // namespace proteus::graph
