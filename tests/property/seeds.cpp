// SPDX-License-Identifier: Apache-2.0
#include "seeds.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

namespace proteus::property {

std::vector<std::uint64_t> seeds() {
  constexpr std::uint64_t every_time = 200;
  std::uint64_t first = 0;
  std::uint64_t last = every_time;
  if (const char* text = std::getenv("PROTEUS_PROPERTY_SEEDS")) {
    std::istringstream range(text);
    char colon = 0;
    if (!(range >> first >> colon >> last) || colon != ':' || first >= last) {
      throw std::invalid_argument("PROTEUS_PROPERTY_SEEDS is FIRST:LAST, not " + std::string(text));
    }
  }
  std::vector<std::uint64_t> list;
  for (std::uint64_t seed = first; seed < last; ++seed) list.push_back(seed);
  return list;
}

}  // namespace proteus::property
