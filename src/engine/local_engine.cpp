// SPDX-License-Identifier: Apache-2.0
#include "local_engine.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>

#include "proteus/base/error.hpp"
#include "time_text.hpp"

namespace proteus::engine {
namespace {

Time later(Time time, Time delay) {
  return time.ps() >= kEndOfTime.ps() - delay.ps() ? Time::infinity() : time + delay;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

LocalEngine::Implementation::Implementation(int own_rank, std::shared_ptr<const std::vector<std::uint32_t>> owner_of,
                                            Time shortest_delay, EngineOptions how)
    : rank(own_rank),
      owner(std::move(owner_of)),
      lookahead(shortest_delay),
      options(std::move(how)),
      messages(options.queue),
      slow_messages(options.queue),
      own(options.queue) {
  if (!owner) throw std::invalid_argument("the owners of the logical processes are not given");
  if (lookahead <= Time::zero()) {
    throw std::invalid_argument("messages between logical processes must take time; the shortest delay is " +
                                text_of(lookahead));
  }
}

void LocalEngine::Implementation::add(std::uint32_t object, std::unique_ptr<LogicalProcess> process) {
  if (!process) throw std::invalid_argument(fmt::format("logical process {} is missing", object));
  if (object >= owner->size() || (*owner)[object] != static_cast<std::uint32_t>(rank)) {
    throw std::invalid_argument(fmt::format("rank {} does not own logical process {}", rank, object));
  }
  slots.push_back({.process = process.get(), .object = object});
  processes.push_back(std::move(process));
}

void LocalEngine::Implementation::index_slots() {
  auto owned = std::ranges::count(*owner, static_cast<std::uint32_t>(rank));
  if (owned != std::ssize(slots)) {
    throw SimulationError(fmt::format("rank {} hosts {} of its {} logical processes", rank, slots.size(), owned));
  }
  if (slots.empty()) return;
  auto [lowest, highest] = std::ranges::minmax(slots, {}, &Slot::object);
  first_object = lowest.object;
  constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
  slot_of.assign(highest.object - first_object + 1, kNobody);
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    std::uint32_t& entry = slot_of[slots[slot].object - first_object];
    if (entry != kNobody) throw SimulationError(fmt::format("logical process {} is added twice", slots[slot].object));
    entry = static_cast<std::uint32_t>(slot);
  }
}

void LocalEngine::Implementation::start(int ranks) {
  for (std::size_t object = 0; object < owner->size(); ++object) {
    if ((*owner)[object] != no_rank && (*owner)[object] >= static_cast<std::uint32_t>(ranks)) {
      throw SimulationError(fmt::format("logical process {} belongs to rank {}, but there are {} ranks", object,
                                        (*owner)[object], ranks));
    }
  }
  index_slots();
  promises = PromiseTree(slots.size());
  lags = PromiseTree(slots.size());
  for (Slot& slot : slots) {
    slot.inner = is_inner(slot.object);
    slot.reaction = reaction(slot.object);
    if (slot.reaction > lookahead) slow_reaction = std::min(slow_reaction, slot.reaction);
  }
  unasked.resize(slots.size());
  std::iota(unasked.begin(), unasked.end(), 0U);
  std::vector<std::uint32_t> order = unasked;
  std::ranges::sort(order, {}, [this](std::uint32_t slot) { return slots[slot].object; });
  for (std::uint32_t slot : order) {
    running = &slots[slot];
    running->process->start(*this);
  }
  running = nullptr;
}

void LocalEngine::Implementation::check_time(const Event& event) const {
  if (event.time() < kEndOfTime) return;
  throw SimulationError(fmt::format("simulated time would pass {:.3g} s (26 days), where it ends; simulate less",
                                    kEndOfTime.to_seconds()));
}

void LocalEngine::Implementation::schedule(const Event& event) {
  if (event.time_ps < current.time_ps) {
    throw SimulationError(fmt::format("schedules an event in the past, at {}", text_of(event.time())));
  }
  check_time(event);
  Event queued = event;
  queued.object = running->object;
  queued.delta = 0;
  if (event.time_ps == current.time_ps) {
    if (current.delta == std::numeric_limits<decltype(current.delta)>::max()) {
      throw SimulationError(fmt::format("more than {} events follow each other without delay", current.delta));
    }
    queued.delta = static_cast<decltype(queued.delta)>(current.delta + 1);
  }
  own.push(queued);
}

void LocalEngine::Implementation::send(const Event& event) {
  if (event.object >= owner->size()) {
    throw SimulationError(fmt::format("sends to logical process {}, but there are {}", event.object, owner->size()));
  }
  check_time(event);
  if (event.time() < later(now(), lookahead)) {
    throw SimulationError(fmt::format("sends a message to {} for {}, less than the shortest delay {} away",
                                      name_of(event.object), text_of(event.time()), text_of(lookahead)));
  }
  const std::uint32_t destination = (*owner)[event.object];
  const bool here = destination == static_cast<std::uint32_t>(rank);
  Event message = event;
  message.delta = 0;
  if (here && running->inner && is_inner(event.object)) {
    ++statistics.messages_local;
    own.push(message);
    return;
  }
  // The rank that hosts the receiver plays no part in these checks, so that no partition hides an error.
  if (event.time() < running->promise || event.time() < bound) {
    throw SimulationError(
        fmt::format("breaks its promise: sends a message to {} for {}, but promised {}, and events before {} may have "
                    "been handled",
                    name_of(event.object), text_of(event.time()), text_of(running->promise), text_of(bound)));
  }
  if (here) {
    ++statistics.messages_local;
    push_message(message);
  } else {
    leave(message, destination);
  }
}

void LocalEngine::Implementation::leave(const Event& event, std::uint32_t destination) {
  if (destination == no_rank) {
    throw SimulationError(fmt::format("sends to {}, which the run leaves out", name_of(event.object)));
  }
  ++statistics.messages_remote;
  earliest_answer = std::min(earliest_answer, later(event.time(), reaction(event.object)));
  // What start() sends is there before the first window.
  if (bound > Time::zero()) perfect.crossed(now(), event.time());
  mailbox->out[destination].push_back({event, running->object});
}

EventQueue* LocalEngine::Implementation::earliest() {
  EventQueue* first = own.empty() ? nullptr : &own;
  for (EventQueue* queue : {&messages, &slow_messages}) {
    if (!queue->empty() && (first == nullptr || queue->top() < first->top())) first = queue;
  }
  return first;
}

void LocalEngine::Implementation::prefetch(const EventQueue& queue) const {
  const auto slot_of_event = [this](const Event& event) { return &slots[slot_of[event.object - first_object]]; };
  if (const Event* event = queue.upcoming(1)) __builtin_prefetch(slot_of_event(*event));
  if (const Event* event = queue.upcoming(0)) __builtin_prefetch(slot_of_event(*event)->process);
}

void LocalEngine::Implementation::handle_earliest(EventQueue& queue) {
  current = queue.pop();
  prefetch(queue);
  std::uint32_t slot = slot_of[current.object - first_object];
  running = &slots[slot];
  if (running->asked) {
    running->asked = false;
    unasked.push_back(slot);
  }
  const Time lag = &queue == &own ? std::max(running->after, lookahead) : running->reaction;
  running->promise = std::min(running->promise, later(now(), lag));
  running->process->handle(current, *this);
  ++running->events;
  running = nullptr;
  ++statistics.events;
}

void LocalEngine::Implementation::run_window(const std::function<bool(int rank)>& full) {
  const Budget& budget = options.budget;
  auto begin = std::chrono::steady_clock::now();
  const std::uint64_t first_event = statistics.events;
  const std::uint64_t first_message = statistics.messages_remote;
  int until_look = budget.events_between_looks;
  for (EventQueue* queue = earliest(); queue != nullptr && queue->top().time() < bound; queue = earliest()) {
    handle_earliest(*queue);
    if (--until_look > 0) continue;
    if (std::chrono::steady_clock::now() - begin >= budget.time) break;
    if (statistics.messages_remote - first_message >= budget.messages) break;
    if (statistics.events - first_event >= budget.events) break;
    if (full && full(rank)) break;
    until_look = budget.events_between_looks;
  }
  ++statistics.windows;
  statistics.seconds_events += seconds_since(begin);
}

void LocalEngine::Implementation::receive() {
  earliest_answer = Time::infinity();
  for (const Message& event : mailbox->in) {
    if (event.object >= owner->size() || (*owner)[event.object] != static_cast<std::uint32_t>(rank)) {
      throw SimulationError(fmt::format("a message of {} for logical process {} arrived, which lives elsewhere",
                                        name_of(event.sender), event.object));
    }
    if (event.time() < bound) {
      throw SimulationError(fmt::format(
          "{} breaks a promise: its message for {} at {} arrived late: events before {} may have been handled",
          name_of(event.sender), name_of(event.object), text_of(event.time()), text_of(bound)));
    }
    push_message(event);
  }
  received += mailbox->in.size();
  mailbox->in.clear();
}

Time LocalEngine::Implementation::promise() {
  for (std::uint32_t index : unasked) {
    Slot& slot = slots[index];
    const Promise promised = slot.process->promise();
    slot.promise = promised.at;
    slot.after = promised.senders_answer ? lookahead : promised.after;
    slot.asked = true;
    promises.set(index, promised.at);
    // Outside of the inner processes nothing arrives but messages, which answer for themselves.
    lags.set(index, slot.inner ? std::max(promised.after, lookahead) : Time::infinity());
  }
  unasked.clear();
  if (own.empty() && messages.empty() && slow_messages.empty() && earliest_answer.is_infinite()) {
    return Time::infinity();
  }
  Time effect = earliest_answer;
  Time inner = Time::infinity();  // before which no inner message arrives that is not there yet
  // Nothing is sent but by a handler: whatever processes promise, their own events cannot act before they are due. So
  // early promises cost windows but cannot stop the run.
  if (!own.empty()) {
    effect = std::min(effect, std::max(promises.smallest(), later(own.top().time(), lookahead)));
    inner = own.top().time();
  }
  if (!messages.empty()) {
    effect = std::min(effect, later(messages.top().time(), lookahead));
    inner = std::min(inner, later(messages.top().time(), lookahead));
  }
  if (!slow_messages.empty()) {
    effect = std::min(effect, later(slow_messages.top().time(), slow_reaction));
    inner = std::min(inner, later(slow_messages.top().time(), lookahead));
  }
  if (!inner.is_infinite() && !lags.smallest().is_infinite()) effect = std::min(effect, later(inner, lags.smallest()));
  return std::min(effect, kEndOfTime);
}

Outcome LocalEngine::Implementation::outcome() const {
  Outcome outcome;
  outcome.failure = failure;
  outcome.sent = statistics.messages_remote;
  outcome.received = received;
  outcome.processes = slots.size();
  outcome.last_event = current.time();
  if (failure) return outcome;
  std::vector<const Slot*> stuck;
  for (const Slot& slot : slots) {
    if (!slot.process->finished()) stuck.push_back(&slot);
  }
  std::ranges::sort(stuck, {}, &Slot::object);
  outcome.unfinished = stuck.size();
  for (const Slot* slot : stuck) {
    std::vector<std::string> lines = slot->process->blocked();
    if (lines.empty()) lines.emplace_back("not finished");
    outcome.blocked_lines += lines.size();
    for (const std::string& line : lines) {
      if (outcome.blocked.size() == Outcome::kMostLines) break;
      outcome.blocked.emplace_back(slot->object, slot->process->name() + ": " + line);
    }
  }
  return outcome;
}

std::string LocalEngine::Implementation::context() const {
  return running == nullptr ? "" : fmt::format("{} at {}: ", running->process->name(), text_of(now()));
}

const LogicalProcess* LocalEngine::Implementation::hosted(std::uint32_t object) const {
  const bool here = object < owner->size() && (*owner)[object] == static_cast<std::uint32_t>(rank);
  return here ? slots[slot_of[object - first_object]].process : nullptr;
}

std::string LocalEngine::Implementation::name_of(std::uint32_t object) const {
  if (const LogicalProcess* process = hosted(object)) return process->name();
  return options.name_of && object < owner->size() ? options.name_of(object)
                                                   : fmt::format("logical process {}", object);
}

LocalEngine::LocalEngine(int rank, std::shared_ptr<const std::vector<std::uint32_t>> owner, Time lookahead,
                         EngineOptions options)
    : implementation_(std::make_unique<Implementation>(rank, std::move(owner), lookahead, std::move(options))) {}
LocalEngine::~LocalEngine() = default;
LocalEngine::LocalEngine(LocalEngine&&) noexcept = default;

void LocalEngine::set_couplings(std::shared_ptr<const Couplings> couplings) {
  implementation_->couplings = std::move(couplings);
}
void LocalEngine::add(std::uint32_t object, std::unique_ptr<LogicalProcess> process) {
  implementation_->add(object, std::move(process));
}
int LocalEngine::rank() const { return implementation_->rank; }
const Statistics& LocalEngine::statistics() const { return implementation_->statistics; }
std::span<const std::unique_ptr<LogicalProcess>> LocalEngine::processes() const { return implementation_->processes; }
void LocalEngine::count_events(std::span<std::uint64_t> events) const {
  for (const Implementation::Slot& slot : implementation_->slots) events[slot.object] += slot.events;
}

}  // namespace proteus::engine
