// SPDX-License-Identifier: Apache-2.0
#include "wait_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "text_codec.hpp"

namespace proteus::engine {
namespace {

/// As many as a reader can follow; of a longer chain the beginning and the end are told.
constexpr std::size_t most_lines = 40;

struct Step {
  WaitPlace place;
  WaitLink link;
};

class Walk {
 public:
  Walk(std::span<const LocalEngine::Implementation* const> engines, const GatherTexts& gather)
      : engines_(engines), gather_(gather) {}

  std::vector<std::string> lines() {
    std::optional<WaitPlace> place = first();
    if (!place) return {};
    std::vector<Step> steps;
    std::map<WaitPlace, std::size_t> visited;
    while (place && visited.emplace(*place, steps.size()).second) {
      steps.push_back({*place, link(*place)});
      place = steps.back().link.next;
    }
    if (!place) return told(steps, false);
    // Who only waits for those in the circle is no part of it, and neither is where it was entered.
    steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(visited.at(*place)));
    const auto begin = std::ranges::min_element(
        steps, {}, [](const Step& step) { return std::pair(step.link.who.empty(), step.place); });
    std::rotate(steps.begin(), begin, steps.end());
    return told(steps, true);
  }

 private:
  static void put(TextWriter& writer, const std::optional<WaitPlace>& place) {
    writer.number(place ? 1 : 0);
    if (!place) return;
    writer.number(place->object);
    writer.number(place->place);
  }

  static std::optional<WaitPlace> take(TextReader& reader) {
    if (reader.number() == 0) return std::nullopt;
    const auto object = static_cast<std::uint32_t>(reader.number());
    return WaitPlace{object, reader.number()};
  }

  std::optional<WaitPlace> first() const {
    std::vector<std::string> texts;
    for (const auto* engine : engines_) {
      std::optional<WaitPlace> mine;
      for (const auto& slot : engine->slots) {
        if ((mine && slot.object > mine->object) || slot.process->finished()) continue;
        if (const auto place = slot.process->first_wait()) mine = WaitPlace{slot.object, *place};
      }
      TextWriter writer;
      put(writer, mine);
      texts.push_back(writer.take());
    }
    std::optional<WaitPlace> all;
    for (const std::string& text : gather_(texts)) {
      TextReader reader(text);
      const auto place = take(reader);
      if (place && (!all || *place < *all)) all = place;
    }
    return all;
  }

  WaitLink link(const WaitPlace& place) const {
    std::vector<std::string> texts;
    for (const auto* engine : engines_) {
      TextWriter writer;
      if (const LogicalProcess* process = engine->hosted(place.object)) {
        const WaitLink own = ask(*process, place.place);
        for (const std::string& text : {own.who, own.what, own.holds}) writer.string(text);
        put(writer, own.next);
      }
      texts.push_back(writer.take());
    }
    for (const std::string& text : gather_(texts)) {
      if (text.empty()) continue;
      TextReader reader(text);
      WaitLink found;
      for (std::string* part : {&found.who, &found.what, &found.holds}) *part = reader.string();
      found.next = take(reader);
      return found;
    }
    return {};
  }

  /// The others wait for an answer, so that a failure here must be one.
  static WaitLink ask(const LogicalProcess& process, std::uint64_t place) {
    try {
      return process.wait_at(place);
    } catch (const std::exception& error) {
      return {process.name(), std::string("cannot tell what it waits for: ") + error.what(), "", std::nullopt};
    }
  }

  static std::vector<std::string> told(const std::vector<Step>& steps, bool circle) {
    std::vector<std::string> links;
    for (const Step& step : steps) {
      if (step.link.who.empty() && (step.link.what.empty() || links.empty())) continue;
      if (step.link.who.empty()) {
        links.back() += " " + step.link.what;
      } else {
        links.push_back((links.empty() ? "  " : "  -> ") + step.link.who + ": " + step.link.what);
      }
    }
    if (circle) links.push_back("  -> " + steps.front().link.who + ", where the chain began");
    if (links.size() > most_lines) {
      const std::size_t left_out = links.size() - most_lines;
      links[most_lines / 2] = fmt::format("  ... and {} more", left_out + 1);
      const auto begin = links.begin() + most_lines / 2 + 1;
      links.erase(begin, begin + static_cast<std::ptrdiff_t>(left_out));
    }
    links.insert(links.begin(), circle ? "everybody in this circle waits for the next:"
                                       : "the chain of waits ends with what never comes:");
    if (circle) add_orders(steps, links);
    return links;
  }

  /// In a circle, what one is in the midst of is still in front of another.
  static void add_orders(const std::vector<Step>& steps, std::vector<std::string>& links) {
    std::vector<std::string> orders;
    for (const Step& step : steps) {
      if (!step.link.holds.empty()) orders.push_back(step.link.who + " is in " + step.link.holds);
    }
    if (orders.size() < 2 || orders.size() > most_lines) return;
    links.emplace_back("they come to these in different orders:");
    for (const std::string& order : orders) links.push_back("  " + order);
  }

  std::span<const LocalEngine::Implementation* const> engines_;
  const GatherTexts& gather_;
};

}  // namespace

std::vector<std::string> wait_chain(std::span<const LocalEngine::Implementation* const> engines,
                                    const GatherTexts& gather) {
  return Walk(engines, gather).lines();
}

}  // namespace proteus::engine
