// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proteus/base/quantity.hpp"
#include "proteus/base/time.hpp"

namespace proteus::io {

/// Why a text is not a quantity; empty: it is one.
struct QuantityProblem {
  std::string problem;
  std::string expected;
  explicit operator bool() const { return !problem.empty(); }
};

/// Numbers are decimal, without leading zeros ("010" is refused: some readers take it for eight), not infinite.
std::optional<double> number_from(std::string_view text);
/// Whole numbers only: "8", not "8.0" or "1e3".
std::optional<std::int64_t> integer_from(std::string_view text);

/// "3 us", "1.5 ms": ps, ns, us, ms, s. Rounded to whole picoseconds.
QuantityProblem parse_quantity(std::string_view text, Time& result);
/// "80 GiB", "80 GB", "512 B": decimal and binary prefixes up to T.
QuantityProblem parse_quantity(std::string_view text, Bytes& result);
/// "25 GB/s", "200 Gb/s": B is byte, b is bit, decimal prefixes.
QuantityProblem parse_quantity(std::string_view text, BytesPerSecond& result);
/// "312 TFLOP/s": no prefix, k, M, G, T, P or E.
QuantityProblem parse_quantity(std::string_view text, FlopPerSecond& result);

/// Texts that parse back to exactly the same value.
std::string quantity_text(Time value);
std::string quantity_text(Bytes value);
std::string quantity_text(BytesPerSecond value);
std::string quantity_text(FlopPerSecond value);
/// The shortest decimal text that reads back to the same double.
std::string number_text(double value);

}  // namespace proteus::io
