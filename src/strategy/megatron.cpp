// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/strategy.hpp"

namespace proteus::strategy {
namespace {

using Split = std::map<std::string, std::vector<std::string>>;

Annotation entry(const std::string& selector, Split split, const SourceLocation& where) {
  Annotation result;
  result.selector = selector;
  result.split = std::move(split);
  result.where = where;
  return result;
}

const SourceLocation& where_is(const MegatronOptions& options, const std::string& key) {
  auto found = options.key_where.find(key);
  return found == options.key_where.end() ? options.where : found->second;
}

/// Places in the pipeline that are not layers.
std::int64_t counted_ends(const MegatronOptions& o) {
  return (o.account_for_embedding_in_pipeline_split ? 1 : 0) + (o.account_for_loss_in_pipeline_split ? 1 : 0);
}

/// Selectors of each chunk where the ends count as layers.
std::vector<std::vector<std::string>> dealt_with_ends(const MegatronOptions& o, std::int64_t layers) {
  const std::int64_t count = o.pp * o.vpp;
  const std::int64_t places = (layers + counted_ends(o)) / count;
  std::vector<std::vector<std::string>> chunks(static_cast<std::size_t>(count));
  chunks.front().emplace_back("embedding");
  std::int64_t layer = 0;
  for (std::int64_t chunk = 0; chunk < count; ++chunk) {
    std::int64_t own = places;
    if (chunk == 0 && o.account_for_embedding_in_pipeline_split) --own;
    if (chunk == count - 1 && o.account_for_loss_in_pipeline_split) --own;
    if (own > 0) {
      chunks[static_cast<std::size_t>(chunk)].push_back("layers[" + std::to_string(layer) + ":" +
                                                        std::to_string(layer + own) + "]");
    }
    layer += own;
  }
  chunks.back().emplace_back("head");
  return chunks;
}

void check(const MegatronOptions& o, std::int64_t devices, std::int64_t layers) {
  const auto fail = [&](const std::string& key, const std::string& problem, const std::string& expected) {
    throw InputError(where_is(o, key), "strategy." + key, problem, expected);
  };
  const auto positive = [&](const std::string& key, std::int64_t value) {
    if (value < 1) fail(key, std::to_string(value), "a positive integer");
  };
  positive("tp", o.tp);
  positive("pp", o.pp);
  positive("vpp", o.vpp);
  positive("micro_batch", o.micro_batch);
  positive("global_batch", o.global_batch);
  for (const auto& [key, degree] : {std::pair("tp", o.tp), std::pair("pp", o.pp)}) {
    if (degree > devices) {
      fail(key, std::to_string(degree) + " on " + std::to_string(devices) + " devices", "at most as many as there are");
    }
  }
  if (devices % (o.tp * o.pp) != 0) {
    fail(o.tp > 1 ? "tp" : "pp",
         "tp * pp = " + std::to_string(o.tp * o.pp) + " does not divide the " + std::to_string(devices) +
             " devices of the cluster",
         "degrees whose product divides it");
  }
  const std::int64_t dp = devices / (o.tp * o.pp);
  if (o.dp && *o.dp != dp) {
    fail("dp",
         std::to_string(*o.dp) + " with tp " + std::to_string(o.tp) + " and pp " + std::to_string(o.pp) + " on " +
             std::to_string(devices) + " devices",
         "dp = " + std::to_string(dp) + ", or leave it out");
  }
  if (o.global_batch % (o.micro_batch * dp) != 0) {
    fail(
        "global_batch",
        std::to_string(o.global_batch) + " does not divide by micro_batch * dp = " + std::to_string(o.micro_batch * dp),
        "a multiple of it");
  }
  const std::int64_t places = layers + counted_ends(o);
  if (places % (o.pp * o.vpp) != 0) {
    fail(o.pp > 1 ? "pp" : "vpp",
         std::to_string(places) + " layers" +
             (counted_ends(o) > 0 ? ", with embedding and loss where they count," : "") +
             " do not divide by pp * vpp = " + std::to_string(o.pp * o.vpp),
         "a number of stages that divides the layers");
  }
  if (o.vpp > 1 && o.pp < 2) fail("vpp", "interleaving needs a pipeline", "pp of at least 2, or vpp 1");
  if (o.vpp > 1 && o.global_batch / (o.micro_batch * dp) % o.pp != 0) {
    fail("global_batch",
         "interleaved 1F1B with " + std::to_string(o.global_batch / (o.micro_batch * dp)) + " micro-batches on " +
             std::to_string(o.pp) + " stages",
         "micro-batches that are a multiple of pp");
  }
  if (o.sequence_parallel && o.tp == 1)
    fail("sequence_parallel", "needs tensor parallelism", "tp of at least 2, or false");
}

}  // namespace

Strategy megatron(const MegatronOptions& o, std::int64_t devices, std::int64_t layers) {
  check(o, devices, layers);
  Strategy s;
  s.where = o.where;
  s.mesh.where = o.where;
  s.mesh.order = {"tp", "dp", "pp"};  // Megatron-LM's default rank order tp-cp-ep-dp-pp (core/parallel_state.py)
  s.mesh.sizes = {{"tp", o.tp}, {"dp", devices / (o.tp * o.pp)}, {"pp", o.pp}};

  // Sequence parallelism (Korthikanti et al. 2022, section 4.2.2) splits what lies between the tensor-parallel linears.
  const std::vector<std::string> seq =
      o.sequence_parallel ? std::vector<std::string>{"tp"} : std::vector<std::string>{};
  const Split between{{"batch", {"dp"}}, {"seq", seq}};
  const Split column{{"batch", {"dp"}}, {"out", {"tp"}}};
  const Split row{{"batch", {"dp"}}, {"in", {"tp"}}};
  s.tree = {
      entry("embedding.*", between, o.where),
      entry("embedding.word", {{"batch", {"dp"}}, {"vocab", {"tp"}}}, o.where),
      entry("layers.*.attention.norm", between, o.where),
      entry("layers.*.attention.qkv", column, o.where),
      entry("layers.*.attention.proj", row, o.where),
      entry("layers.*.attention.add", between, o.where),
      entry("layers.*.mlp.norm", between, o.where),
      entry("layers.*.mlp.fc1", column, o.where),
      entry("layers.*.mlp.fc2", row, o.where),
      entry("layers.*.mlp.add", between, o.where),
      entry("head.norm", between, o.where),
      entry("head.output", column, o.where),
  };
  if (o.sequence_parallel) {
    // The column-parallel linears keep their shard of the input and gather it again in backward (section 4.2.2).
    for (const char* path : {"layers.*.attention.qkv", "layers.*.mlp.fc1", "head.output"}) {
      Annotation saved;
      saved.selector = path;
      saved.store["saved"] = {"tp"};
      saved.where = o.where;
      s.tree.push_back(saved);
    }
  }
  if (o.recompute != Recompute::none) {
    Annotation recompute;
    recompute.selector = "layers.*";
    recompute.recompute = o.recompute;
    recompute.where = o.where;
    s.tree.push_back(recompute);
  }
  if (o.distributed_optimizer) {
    Annotation sharded;
    sharded.selector = "**";
    sharded.store["optimizer"] = {"dp"};
    sharded.where = o.where;
    s.tree.push_back(sharded);
  }
  s.tree.insert(s.tree.end(), o.tree.begin(), o.tree.end());

  s.stages.axis = "pp";
  s.stages.chunks_per_stage = o.vpp;
  if (counted_ends(o) > 0) s.stages.chunks = dealt_with_ends(o, layers);
  s.stages.where = o.where;
  s.schedule = o.vpp > 1 ? SchedulePolicy::interleaved_1f1b : SchedulePolicy::one_f_one_b;
  s.micro_batch = o.micro_batch;
  s.global_batch = o.global_batch;
  s.type = o.type;
  s.runtime = o.runtime;
  s.overlap_gradient_reduction = o.overlap_grad_reduce;
  return s;
}

}  // namespace proteus::strategy
