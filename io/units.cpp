// SPDX-License-Identifier: Apache-2.0
#include "units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "yaml_value.hpp"

namespace proteus::io {
namespace {

struct Unit {
  std::string_view name;
  double factor;  ///< in picoseconds, bytes, bytes per second, operations per second
};

constexpr std::array<Unit, 5> kTime{{{"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"ps", 1}}};
constexpr std::array<Unit, 9> kBytes{{{"TiB", 1099511627776.0},
                                      {"TB", 1e12},
                                      {"GiB", 1073741824.0},
                                      {"GB", 1e9},
                                      {"MiB", 1048576.0},
                                      {"MB", 1e6},
                                      {"KiB", 1024.0},
                                      {"kB", 1e3},
                                      {"B", 1}}};
constexpr std::array<Unit, 10> kBandwidth{{{"GB/s", 1e9},
                                           {"TB/s", 1e12},
                                           {"MB/s", 1e6},
                                           {"kB/s", 1e3},
                                           {"Tb/s", 1.25e11},
                                           {"Gb/s", 1.25e8},
                                           {"Mb/s", 1.25e5},
                                           {"kb/s", 125},
                                           {"b/s", 0.125},
                                           {"B/s", 1}}};
constexpr std::array<Unit, 7> kFlops{{{"TFLOP/s", 1e12},
                                      {"EFLOP/s", 1e18},
                                      {"PFLOP/s", 1e15},
                                      {"GFLOP/s", 1e9},
                                      {"MFLOP/s", 1e6},
                                      {"kFLOP/s", 1e3},
                                      {"FLOP/s", 1}}};

std::string names(std::span<const Unit> units) {
  std::string out;
  for (const Unit& unit : units) out += (out.empty() ? "" : ", ") + std::string(unit.name);
  return out;
}

QuantityProblem parse(std::string_view text, std::span<const Unit> units, const std::string& what, double& result) {
  const std::string expected = what + " in one of the units " + names(units);
  const std::size_t end = text.find_first_not_of("0123456789.+-eE");
  // The exponent's e may be the first letter of a unit: numbers end where a digit or a dot does.
  std::size_t cut = std::min(end, text.size());
  while (cut > 0 && (text[cut - 1] == 'e' || text[cut - 1] == 'E')) --cut;
  std::optional<double> number = number_from(text.substr(0, cut));
  if (!number) return {"not a number with a unit: " + quoted_for_message(text), expected};
  const std::size_t start = text.find_first_not_of(' ', cut);
  if (start == std::string_view::npos) return {"the unit is missing in " + quoted_for_message(text), expected};
  const std::string_view name = text.substr(start);
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    result = *number * unit.factor;
    if (!std::isfinite(result)) return {"too large: " + quoted_for_message(text), expected};
    if (*number < 0) return {"negative: " + quoted_for_message(text), expected + ", not negative"};
    return {};
  }
  return {"unknown unit " + quoted_for_message(name), expected};
}

/// Whole picoseconds or bytes.
QuantityProblem whole(std::string_view text, const std::string& what, double value, std::int64_t& result) {
  // Beyond 2^62 sums of two would overflow.
  if (!(value < 4611686018427387904.0)) return {"too large: " + quoted_for_message(text), what + " below 2^62"};
  result = std::llround(value);
  if (value > 0 && result == 0) return {"too small: " + quoted_for_message(text), "0 or at least 1 " + what};
  return {};
}

std::string exact(double value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    const double number = value / unit.factor;
    if (number >= 1 && number < 1e4 && number * unit.factor == value) return fmt::format("{} {}", number, unit.name);
  }
  return fmt::format("{} {}", value, units.back().name);
}

std::string exact(std::int64_t value, std::span<const Unit> units) {
  std::string best = fmt::format("{} {}", value, units.back().name);
  for (const Unit& unit : units) {
    const auto factor = static_cast<std::int64_t>(unit.factor);
    if (value == 0 || value % factor != 0) continue;
    std::string text = fmt::format("{} {}", value / factor, unit.name);
    if (text.size() < best.size()) best = text;
  }
  return best;
}

}  // namespace

std::optional<double> number_from(std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return std::nullopt;
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return std::nullopt;
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_from(std::string_view text) {
  if (text.find_first_not_of("-0123456789") != std::string_view::npos || !number_from(text)) return std::nullopt;
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

QuantityProblem parse_quantity(std::string_view text, Time& result) {
  double value = 0;
  std::int64_t count = 0;
  if (QuantityProblem problem = parse(text, kTime, "a time", value)) return problem;
  if (QuantityProblem problem = whole(text, "ps", value, count)) return problem;
  result = Time::picoseconds(count);
  return {};
}

QuantityProblem parse_quantity(std::string_view text, Bytes& result) {
  double value = 0;
  if (QuantityProblem problem = parse(text, kBytes, "a size", value)) return problem;
  return whole(text, "B", value, result.value);
}

QuantityProblem parse_quantity(std::string_view text, BytesPerSecond& result) {
  return parse(text, kBandwidth, "a bandwidth", result.value);
}

QuantityProblem parse_quantity(std::string_view text, FlopPerSecond& result) {
  return parse(text, kFlops, "a compute rate", result.value);
}

std::string quantity_text(Time value) { return exact(value.ps(), kTime); }
std::string quantity_text(Bytes value) { return exact(value.value, kBytes); }
std::string quantity_text(BytesPerSecond value) { return exact(value.value, kBandwidth); }
std::string quantity_text(FlopPerSecond value) { return exact(value.value, kFlops); }
std::string number_text(double value) { return fmt::format("{}", value); }

}  // namespace proteus::io
