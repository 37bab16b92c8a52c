// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "experiment_text.hpp"

namespace proteus::io {
namespace {

using test::catalog;
using test::kCluster;
using test::kModel;
using test::kStrategy;

std::vector<std::string> names(const std::string& section) {
  std::vector<std::string> result;
  for (const CatalogEntry& entry : list_catalog(section, catalog())) result.push_back(entry.name);
  return result;
}

TEST(Catalog, EveryEntryIsDescribedAndSourced) {
  for (const char* section : {"gpus", "nodes", "clusters", "models", "presets", "runtimes", "experiments"}) {
    for (const CatalogEntry& entry : list_catalog(section, catalog())) {
      EXPECT_NE(entry.description, "") << section << "/" << entry.name;
      const bool needs_source = std::string(section) != "experiments";
      EXPECT_TRUE(!needs_source || !entry.source.empty()) << section << "/" << entry.name;
    }
  }
}

TEST(Catalog, ListsInOrder) {
  EXPECT_EQ(names("gpus").size(), 25U);
  EXPECT_EQ(names("nodes").size(), 24U);
  EXPECT_TRUE(std::ranges::is_sorted(names("gpus")));
  EXPECT_THAT(names("models"), testing::IsSupersetOf({"gpt2-117m", "gpt-1.5b", "gpt3-175b", "llama3-405b"}));
  EXPECT_THAT(names("runtimes"),
              testing::ElementsAre("megatron-core", "megatron-lm-2021", "megatron-lm-2022", "pytorch-ddp"));
  EXPECT_THAT(names("experiments"), testing::Contains("korthikanti/530b-selective"));
}

TEST(Catalog, UnknownSectionIsAnError) { EXPECT_THROW(list_catalog("gpu", catalog()), InputError); }

using CatalogEntries = test::ExperimentFiles;

TEST_F(CatalogEntries, EveryGpuReads) {
  for (const std::string& name : names("gpus")) {
    const Experiment e = read(kModel + kCluster + kStrategy, {"cluster.node={name: DGX-A100-80, gpu: " + name + "}"});
    EXPECT_EQ(e.cluster.node.gpu.name, name);
    EXPECT_GT(e.cluster.node.gpu.peak.at(DataType::fp32).value, 0) << name;
  }
}

TEST_F(CatalogEntries, EveryNodeReads) {
  for (const std::string& name : names("nodes")) {
    const Experiment e = read(kModel + kCluster + "strategy: {preset: megatron, global_batch: 96}\n",
                              {"cluster.node=" + name, "cluster.nodes=1"});
    EXPECT_EQ(e.cluster.node.name, name);
    EXPECT_GT(e.cluster.node.nic_bandwidth.value, 0) << name;
  }
}

TEST_F(CatalogEntries, EveryClusterReads) {
  for (const std::string& name : names("clusters")) {
    EXPECT_EQ(read(kModel + "cluster: {name: " + name + ", nodes: 2}\nstrategy: {preset: megatron, global_batch: 32}\n")
                  .cluster.name,
              name);
  }
}

TEST_F(CatalogEntries, EveryModelReads) {
  for (const std::string& name : names("models")) {
    const Experiment e =
        read("model: " + name + "\n" + kCluster + "strategy: {preset: megatron, tp: 8, global_batch: 32}\n");
    EXPECT_EQ(e.model.name, name);
    const auto* sizes = std::get_if<model::TransformerConfig>(&e.model.family);
    if (sizes == nullptr) continue;
    EXPECT_EQ(sizes->hidden, sizes->heads * sizes->head_dim) << name;
  }
}

/// Sizes of table 3 give the parameter counts of the paper's title column within a percent or so.
TEST_F(CatalogEntries, MegatronModelsHaveTheSizesOfTheirNames) {
  const std::vector<std::pair<std::string, double>> models = {
      {"megatron-22b", 22e9}, {"megatron-175b", 175e9}, {"megatron-530b", 530e9}, {"megatron-1t", 1e12}};
  for (const auto& [name, parameters] : models) {
    const Experiment e = read("model: " + name + "\n" + kCluster + kStrategy, {"strategy.pp=1"});
    const auto& m = std::get<model::TransformerConfig>(e.model.family);
    const auto h = static_cast<double>(m.hidden);
    const double count = 12.0 * static_cast<double>(m.layers) * h * h + static_cast<double>(m.vocab) * h;
    EXPECT_NEAR(count / parameters, 1, 0.02) << name;
  }
}

TEST_F(CatalogEntries, RuntimesDifferWhereTheFrameworksDo) {
  const auto runtime = [&](const std::string& name) {
    return read(kModel + kCluster + kStrategy, {"strategy.runtime=" + name}).runtime;
  };
  const auto wait = [](const strategy::Runtime& r, strategy::Role role, const std::string& schedule) {
    std::string result;
    for (const strategy::Rule& rule : r.rules) {
      if (rule.match.role && *rule.match.role != role) continue;
      if (rule.match.schedule && *rule.match.schedule != schedule) continue;
      if (rule.effect.wait_before) result = *rule.effect.wait_before;
    }
    return result;
  };
  for (const std::string& name : names("runtimes")) {
    const strategy::Runtime r = runtime(name);
    EXPECT_EQ(r.name, name);
    for (const strategy::Rule& rule : r.rules) EXPECT_NE(rule.source, "");
    if (!name.starts_with("megatron")) continue;
    EXPECT_EQ(wait(r, strategy::Role::pipeline, "1f1b"), "next");
    EXPECT_EQ(wait(r, strategy::Role::activation_gradient, "1f1b"), name == "megatron-lm-2021" ? "next" : "use");
    EXPECT_EQ(wait(r, strategy::Role::pipeline, "interleaved-1f1b"), name == "megatron-lm-2021" ? "next" : "use");
  }
}

TEST_F(CatalogEntries, EnvironmentVariableChoosesTheCatalog) {
  ASSERT_EQ(setenv("PROTEUS_CATALOG", directory_.c_str(), 1), 0);
  EXPECT_EQ(find_catalog(), directory_);
  ASSERT_EQ(setenv("PROTEUS_CATALOG", (directory_ / "none").c_str(), 1), 0);
  EXPECT_THROW(find_catalog(), InputError);
  ASSERT_EQ(unsetenv("PROTEUS_CATALOG"), 0);
  EXPECT_TRUE(std::filesystem::is_directory(find_catalog() / "gpus"));
}

}  // namespace
}  // namespace proteus::io
