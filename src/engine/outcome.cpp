// SPDX-License-Identifier: Apache-2.0
#include "outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proteus/base/error.hpp"
#include "text_codec.hpp"
#include "time_text.hpp"

namespace proteus::engine {
namespace {

void throw_failure(std::span<const Outcome> outcomes) {
  std::size_t failures = 0;
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const auto& failure = outcomes[rank].failure;
    if (!failure) continue;
    if (failures++ == 0 || failure->when < outcomes[first].failure->when) first = rank;
  }
  if (failures == 0) return;
  const Failure& failure = *outcomes[first].failure;
  std::string text = outcomes.size() > 1 ? fmt::format("rank {}: {}", first, failure.text) : failure.text;
  if (failures > 1) text += fmt::format(" (the first of {} ranks that failed)", failures);
  switch (failure.kind) {
    case Failure::Kind::simulation:
      break;
    case Failure::Kind::output:
      throw OutputError(text);
    case Failure::Kind::stopped:
      throw StoppedError(text);
  }
  throw SimulationError(text);
}

void throw_lost(std::span<const Outcome> outcomes) {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const Outcome& outcome : outcomes) {
    sent += outcome.sent;
    received += outcome.received;
  }
  if (sent != received) {
    throw SimulationError(fmt::format("messages lost: ranks sent {} to each other and received {}", sent, received));
  }
}

void throw_deadlock(std::span<const Outcome> outcomes, const std::function<std::vector<std::string>()>& chain) {
  Outcome all;
  for (const Outcome& outcome : outcomes) {
    all.processes += outcome.processes;
    all.unfinished += outcome.unfinished;
    all.blocked_lines += outcome.blocked_lines;
    all.last_event = std::max(all.last_event, outcome.last_event);
    all.blocked.insert(all.blocked.end(), outcome.blocked.begin(), outcome.blocked.end());
  }
  if (all.unfinished == 0) return;
  std::ranges::stable_sort(all.blocked, {}, [](const auto& line) { return line.first; });
  if (all.blocked.size() > Outcome::kMostLines) all.blocked.resize(Outcome::kMostLines);
  std::string text = fmt::format("deadlock at {}: no events are left, but {} of {} logical processes are not finished",
                                 text_of(all.last_event), all.unfinished, all.processes);
  const std::vector<std::string> links = chain();
  for (const std::string& line : links) text += "\n  " + line;
  if (!links.empty()) text += "\n  all that is stuck:";
  for (const auto& line : all.blocked) text += "\n  " + line.second;
  if (all.blocked_lines > all.blocked.size()) {
    text += fmt::format("\n  ... and {} more", all.blocked_lines - all.blocked.size());
  }
  throw SimulationError(text);
}

}  // namespace

std::string Outcome::encode() const {
  TextWriter writer;
  writer.number(failure ? 1 : 0);
  if (failure) {
    writer.number(static_cast<std::uint64_t>(failure->kind));
    writer.number(static_cast<std::uint64_t>(failure->when.ps()));
    writer.string(failure->text);
  }
  for (std::uint64_t value : {sent, received, processes, unfinished, blocked_lines}) writer.number(value);
  writer.number(static_cast<std::uint64_t>(last_event.ps()));
  writer.number(blocked.size());
  for (const auto& [object, line] : blocked) {
    writer.number(object);
    writer.string(line);
  }
  return writer.take();
}

Outcome Outcome::decode(const std::string& text) {
  TextReader reader(text);
  Outcome outcome;
  if (reader.number() != 0) {
    Failure& failure = outcome.failure.emplace();
    const std::uint64_t kind = reader.number();
    if (kind > static_cast<std::uint64_t>(Failure::Kind::stopped)) {
      throw SimulationError("the report of a rank holds a failure of an unknown kind");
    }
    failure.kind = static_cast<Failure::Kind>(kind);
    failure.when = Time::picoseconds(static_cast<std::int64_t>(reader.number()));
    failure.text = reader.string();
  }
  for (auto* value :
       {&outcome.sent, &outcome.received, &outcome.processes, &outcome.unfinished, &outcome.blocked_lines}) {
    *value = reader.number();
  }
  outcome.last_event = Time::picoseconds(static_cast<std::int64_t>(reader.number()));
  std::uint64_t lines = reader.number();
  for (std::uint64_t line = 0; line < lines; ++line) {
    auto object = static_cast<std::uint32_t>(reader.number());
    outcome.blocked.emplace_back(object, reader.string());
  }
  return outcome;
}

void conclude(std::span<const Outcome> outcomes, const std::function<std::vector<std::string>()>& chain) {
  throw_failure(outcomes);
  throw_lost(outcomes);
  throw_deadlock(outcomes, chain);
}

}  // namespace proteus::engine
