// SPDX-License-Identifier: Apache-2.0
// Tests on random experiments. `--print-experiment SEED` prints the file of one instead, for `proteus simulate`.
#include <gtest/gtest.h>

#include <charconv>
#include <cstring>
#include <iostream>
#include <string_view>

#include "small_job.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--print-experiment") == 0) {
    const std::string_view text = argc == 3 ? argv[2] : "";
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
      std::cerr << "usage: " << argv[0] << " --print-experiment SEED\n";
      return 2;
    }
    std::cout << proteus::property::small_job(seed).text;
    return 0;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
