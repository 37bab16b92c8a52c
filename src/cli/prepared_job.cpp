// SPDX-License-Identifier: Apache-2.0
#include "prepared_job.hpp"

#include <chrono>

#include "proteus/cost/communication_cost.hpp"
#include "proteus/cost/compute_cost.hpp"
#include "proteus/graph/compile.hpp"

namespace proteus::cli {

PreparedJob prepare(const std::string& file, const std::vector<std::string>& overrides) {
  const auto catalog = io::find_catalog();
  PreparedJob prepared{io::read_experiment(file, overrides, catalog), {}, 0};
  const io::Experiment& e = prepared.experiment;
  const auto compute = cost::make_compute_cost(e.cluster.node.gpu, catalog);
  const auto communication = cost::make_communication_cost(e.cluster, catalog);
  const auto begin = std::chrono::steady_clock::now();
  prepared.job = graph::compile({e.model, e.cluster, e.strategy, e.runtime, *compute, *communication,
                                 static_cast<int>(e.simulate.iterations)});
  prepared.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return prepared;
}

}  // namespace proteus::cli
