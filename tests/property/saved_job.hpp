// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "small_job.hpp"

namespace proteus::property {

/// A job whose experiment is written to the working directory where a test of it fails.
class SavedJob : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override { job_ = small_job(GetParam()); }
  void TearDown() override {
    if (!HasFailure()) return;
    const std::string file = fmt::format("random-experiment-{}.yaml", job_.seed);
    std::ofstream(file) << job_.text;
    ADD_FAILURE() << "seed " << job_.seed << ", written to " << file << ": proteus simulate " << file;
  }

  SmallJob job_;
};

}  // namespace proteus::property
