// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "proteus/io/experiment.hpp"

namespace proteus::io::test {

inline std::filesystem::path catalog() { return std::filesystem::path(PROTEUS_SOURCE_DIR) / "catalog"; }

/// A small job on 16 devices.
inline const std::string kModel = "model: {name: gpt2-117m}\n";
inline const std::string kCluster = "cluster: {name: dgx-a100-80g, nodes: 2}\n";
inline const std::string kStrategy = "strategy: {preset: megatron, tp: 2, pp: 2, micro_batch: 4, global_batch: 64}\n";

/// A directory of its own for each test, removed at its end.
class ExperimentFiles : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("proteus-") + info->test_suite_name() + "-" + info->name());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& text, const std::string& name = "e.yaml") const {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }
  Experiment read(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return read_experiment(write(text), overrides, catalog());
  }
  /// what() of the error without the directory; empty where there is none.
  std::string error(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    try {
      read(text, overrides);
    } catch (const InputError& problem) {
      std::string message = problem.what();
      const std::string prefix = directory_.string() + "/";
      return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    }
    return "";
  }

  std::filesystem::path directory_;
};

}  // namespace proteus::io::test
