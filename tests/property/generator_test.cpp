// SPDX-License-Identifier: Apache-2.0
// Random experiments are worth running: what is refused is refused with an InputError and not too often, and what is
// accepted covers what a strategy can be.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>

#include "seeds.hpp"
#include "small_job.hpp"

namespace proteus::property {
namespace {

TEST(RandomExperiments, AreOftenAcceptedAndCoverStrategiesAndHardware) {
  std::size_t jobs = 0;
  std::size_t rejected = 0;
  std::map<std::string, std::size_t> covered;
  for (std::uint64_t seed : seeds()) {
    SmallJob job;
    ASSERT_NO_THROW(job = small_job(seed)) << "seed " << seed;
    ++jobs;
    rejected += job.rejected.size();
    const io::Experiment& e = job.prepared.experiment;
    const graph::Job& compiled = job.prepared.job;
    const partition::Objects objects(compiled, e.cluster);
    const auto count = [&](const std::string& what, bool there) { covered[what] += there ? 1 : 0; };
    count("several nodes", e.cluster.nodes > 1);
    count("communicators that span nodes", objects.communicators() > 0);
    count("several fabric domains", objects.domains() > 1);
    count("pipelines", compiled.stage_count > 1);
    count("interleaved", e.strategy.schedule == strategy::SchedulePolicy::interleaved_1f1b);
    count("gpipe", e.strategy.schedule == strategy::SchedulePolicy::gpipe);
    count("overlap", e.strategy.overlap_gradient_reduction);
    count("jitter", e.simulate.compute_jitter > 0);
    count("delays", !e.simulate.delays.empty());
    count("fair-share", e.simulate.network == "fair-share");
    const auto& sizes = std::get<model::TransformerConfig>(e.model.family);
    count("grouped queries", sizes.kv_heads < sizes.heads);
    count("tied embeddings", sizes.tied_embeddings);
    count("fp16", e.strategy.type == DataType::fp16);
    count("a node of " + e.cluster.node.gpu.architecture, true);
    count("runtime " + e.runtime.name, true);
    count(e.simulate.iterations == 1 ? "one iteration" : "several iterations", true);
  }
  std::cout << jobs << " experiments, " << rejected << " more refused\n";
  for (const auto& [what, times] : covered) std::cout << "  " << what << ": " << times << "\n";
  EXPECT_LT(rejected, 4 * jobs);
  for (const auto& [what, times] : covered) EXPECT_GE(times, jobs / 100) << what;
}

}  // namespace
}  // namespace proteus::property
