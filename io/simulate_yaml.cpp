// SPDX-License-Identifier: Apache-2.0
#include "simulate_yaml.hpp"

#include <algorithm>
#include <array>

#include "units.hpp"

namespace proteus::io {
namespace {

constexpr std::array<std::pair<std::string_view, TraceLevel>, 4> kLevels = {{
    {"none", TraceLevel::none},
    {"summary", TraceLevel::summary},
    {"comm", TraceLevel::comm},
    {"all", TraceLevel::all},
}};

/// "FIRST:LAST" or "FIRST:LAST:STEP", half open.
std::vector<std::int64_t> read_range(const YamlItem& item, std::int64_t devices) {
  const std::string text = item.text();
  const std::string form =
      "a list, or FIRST:LAST or FIRST:LAST:STEP with 0 <= FIRST < LAST <= " + std::to_string(devices) + " devices";
  std::vector<std::int64_t> numbers;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(':', start), text.size());
    auto number = integer_from(text.substr(start, end - start));
    if (!number) item.fail("is no range: " + quoted_for_message(text), form);
    numbers.push_back(*number);
    start = end + 1;
  }
  if (numbers.size() < 2 || numbers.size() > 3) item.fail("is no range: " + quoted_for_message(text), form);
  const std::int64_t step = numbers.size() == 3 ? numbers[2] : 1;
  if (numbers[0] < 0 || numbers[0] >= numbers[1] || numbers[1] > devices || step < 1) {
    item.fail("out of range: " + quoted_for_message(text), form);
  }
  std::vector<std::int64_t> result;
  const std::int64_t stride = std::min(step, devices);  // a step beyond the devices must not overflow
  for (std::int64_t device = numbers[0]; device < numbers[1]; device += stride) result.push_back(device);
  return result;
}

std::vector<std::int64_t> read_devices(const YamlItem& item, std::int64_t devices) {
  if (!item.is_sequence()) return read_range(item, devices);
  std::vector<std::int64_t> result;
  for (const YamlItem& device : item.sequence()) result.push_back(device.integer(0, devices - 1));
  if (result.empty()) item.fail("is empty", "devices; without the key all are traced");
  std::ranges::sort(result);
  if (std::ranges::adjacent_find(result) != result.end()) item.fail("names a device twice", "each device once");
  return result;
}

Delay read_delay(const YamlItem& item, std::int64_t devices) {
  const YamlMap map(item, {"device", "position", "by"});
  Delay delay;
  delay.where = item.where();
  delay.device = map.at("device").integer(0, devices - 1);
  delay.position = map.at("position").integer(0);
  delay.by = map.at("by").time();
  if (delay.by == Time::zero()) map.fail("by", "is zero", "a time above 0, as 1 ps");
  return delay;
}

/// The text form where the devices make a range: a list of thousands is no help to a reader.
YamlValue devices_to_yaml(const std::vector<std::int64_t>& devices) {
  const auto integer = [](std::int64_t value) { return YamlValue::plain(std::to_string(value)); };
  const std::int64_t step = devices.size() > 1 ? devices[1] - devices[0] : 1;
  bool even = true;
  for (std::size_t i = 1; i < devices.size(); ++i) even = even && devices[i] - devices[i - 1] == step;
  YamlValue list = YamlValue::sequence();
  for (std::int64_t device : devices) list.items.push_back(integer(device));
  if (!even || devices.size() < 3) return list;
  const std::string range = std::to_string(devices.front()) + ":" + std::to_string(devices.back() + 1);
  return YamlValue::string(step == 1 ? range : range + ":" + std::to_string(step));
}

}  // namespace

SimulateOptions read_simulate(const YamlItem& item, std::int64_t devices) {
  const YamlMap map(
      item, {"iterations", "trace", "trace_devices", "seed", "compute_jitter", "network", "compress", "delays"});
  SimulateOptions options;
  if (auto iterations = map.get("iterations")) options.iterations = iterations->integer(1, 1000000);
  if (auto trace = map.get("trace")) {
    options.trace = trace->choice(std::span<const std::pair<std::string_view, TraceLevel>>(kLevels));
  }
  if (auto traced = map.get("trace_devices")) options.trace_devices = read_devices(*traced, devices);
  if (auto seed = map.get("seed")) options.seed = static_cast<std::uint64_t>(seed->integer(0));
  if (auto jitter = map.get("compute_jitter")) options.compute_jitter = jitter->number(0, 1);
  if (auto network = map.get("network")) {
    options.network = network->choice<std::string>({{"max-min", "max-min"}, {"fair-share", "fair-share"}});
  }
  if (auto compress = map.get("compress")) {
    options.compress = compress->choice<std::string>({{"deflate", "deflate"}, {"none", "none"}});
  }
  if (auto delays = map.get("delays")) {
    for (const YamlItem& delay : delays->sequence()) options.delays.push_back(read_delay(delay, devices));
  }
  return options;
}

YamlValue simulate_to_yaml(const SimulateOptions& options) {
  YamlValue map = YamlValue::map();
  map.set("iterations", YamlValue::plain(std::to_string(options.iterations)));
  for (const auto& [name, level] : kLevels) {
    if (level == options.trace) map.set("trace", YamlValue::string(std::string(name)));
  }
  if (!options.trace_devices.empty()) map.set("trace_devices", devices_to_yaml(options.trace_devices));
  map.set("seed", YamlValue::plain(std::to_string(options.seed)));
  map.set("compute_jitter", YamlValue::plain(number_text(options.compute_jitter)));
  map.set("network", YamlValue::string(options.network)).set("compress", YamlValue::string(options.compress));
  YamlValue delays = YamlValue::sequence();
  for (const Delay& delay : options.delays) {
    YamlValue entry = YamlValue::map();
    entry.set("device", YamlValue::plain(std::to_string(delay.device)));
    entry.set("position", YamlValue::plain(std::to_string(delay.position)));
    entry.set("by", YamlValue::plain(quantity_text(delay.by)));
    delays.items.push_back(entry);
  }
  if (!options.delays.empty()) map.set("delays", delays);
  return map;
}

}  // namespace proteus::io
