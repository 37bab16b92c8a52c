// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace proteus {

/// The finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// The facts of one owner, such as the timeline rows of a device, whoever that is: two 64-bit lanes, each the wrapping
/// sum of one mixed word a fact, so that the order of facts plays no part.
struct FactHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  /// Adds one fact: its identity among those of the owner, and its two numbers.
  constexpr void add(std::uint64_t fact, std::uint64_t first, std::uint64_t second) {
    std::uint64_t a = mix64(fact + 0x9e3779b97f4a7c15ULL);
    std::uint64_t b = mix64(a ^ first);
    std::uint64_t c = mix64(b + second);
    low += c;
    high += mix64(c ^ (a + 0x9e3779b97f4a7c15ULL));
  }

  constexpr bool operator==(const FactHash&) const = default;
};

/// An order-free fingerprint of the facts of a run: the wrapping sum over owners of their facts, each times an odd
/// number that is the owner's. Owners with equal facts are told apart, and cost one multiplication each.
struct StateHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  constexpr void add(std::uint64_t owner, const FactHash& facts) {
    std::uint64_t key = mix64(owner * 0x9e3779b97f4a7c15ULL + 0x9e3779b97f4a7c15ULL);
    low += (key | 1) * facts.low;
    high += (mix64(key) | 1) * facts.high;
  }

  /// Adds one fact of `owner`.
  constexpr void add(std::uint64_t owner, std::uint64_t fact, std::uint64_t first, std::uint64_t second) {
    FactHash facts;
    facts.add(fact, first, second);
    add(owner, facts);
  }

  constexpr void merge(const StateHash& other) {
    high += other.high;
    low += other.low;
  }

  constexpr bool operator==(const StateHash&) const = default;

  /// 32 hexadecimal digits.
  std::string to_string() const;
};

}  // namespace proteus
