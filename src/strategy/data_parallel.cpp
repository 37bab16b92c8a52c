// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/strategy.hpp"

namespace proteus::strategy {

Strategy data_parallel(const DataParallelOptions& o, std::int64_t devices) {
  Strategy s;
  s.where = o.where;
  s.mesh.where = o.where;
  s.mesh.order = {"dp", "pp"};  // a pipeline of one stage
  s.mesh.sizes = {{"dp", devices}, {"pp", 1}};
  Annotation all;
  all.selector = "**";
  all.split = std::map<std::string, std::vector<std::string>>{{"batch", {"dp"}}};
  all.where = o.where;
  s.tree.push_back(all);
  if (o.recompute != Recompute::none) {
    Annotation recompute;
    recompute.selector = "layers.*";
    recompute.recompute = o.recompute;
    recompute.where = o.where;
    s.tree.push_back(recompute);
  }
  s.tree.insert(s.tree.end(), o.tree.begin(), o.tree.end());
  s.stages.axis = "pp";
  s.stages.where = o.where;
  s.schedule = SchedulePolicy::one_f_one_b;
  s.micro_batch = o.micro_batch;
  s.global_batch = o.global_batch;
  s.type = o.type;
  s.runtime = o.runtime;
  s.overlap_gradient_reduction = true;
  return s;
}

}  // namespace proteus::strategy
