// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "experiment_text.hpp"
#include "proteus/io/strategy_yaml.hpp"
#include "yaml_parse.hpp"
#include "yaml_read.hpp"

namespace proteus::io {
namespace {

using test::catalog;
using test::kCluster;
using test::kModel;
using test::kStrategy;
namespace fs = std::filesystem;

using Reader = test::ExperimentFiles;

const model::TransformerConfig& transformer(const Experiment& e) {
  return std::get<model::TransformerConfig>(e.model.family);
}

TEST_F(Reader, ReadsAnExperimentFromNames) {
  const Experiment e = read(kModel + kCluster + kStrategy + "simulate: {iterations: 3, trace: comm, seed: 7}\n");
  EXPECT_EQ(e.model.name, "gpt2-117m");
  EXPECT_EQ(e.model.layers(), 12);
  EXPECT_EQ(transformer(e).kv_heads, 12);
  EXPECT_EQ(transformer(e).head_dim, 64);
  EXPECT_EQ(e.model.where.line, 1);
  EXPECT_EQ(e.cluster.name, "dgx-a100-80g");
  EXPECT_EQ(e.cluster.devices(), 16);
  EXPECT_EQ(e.cluster.node.gpu.memory.value, std::int64_t{80} << 30);
  EXPECT_DOUBLE_EQ(e.cluster.node.gpu.peak.at(DataType::bf16).value, 312e12);
  EXPECT_DOUBLE_EQ(e.cluster.node.nic_bandwidth.value, 25e9);
  EXPECT_EQ(e.cluster.fabric.nodes_per_leaf, 20);
  EXPECT_EQ(e.cluster.nccl, "2.12");
  EXPECT_EQ(e.strategy.mesh.sizes.at("dp"), 4);
  EXPECT_EQ(e.strategy.runtime, "megatron-core");
  EXPECT_EQ(e.runtime.vocab_multiple, 128);
  EXPECT_EQ(e.simulate.iterations, 3);
  EXPECT_EQ(e.simulate.trace, TraceLevel::comm);
  EXPECT_EQ(e.simulate.seed, 7U);
}

TEST_F(Reader, JsonIsRead) {
  const Experiment e = read(
      "{\"model\": {\"name\": \"gpt2-117m\", \"layers\": 24},\n\t\"cluster\": {\"name\": \"dgx-h100\", \"nodes\": 1},\n"
      "\t\"strategy\": {\"preset\": \"megatron\", \"tp\": 8, \"sequence_parallel\": true, \"global_batch\": 8}}");
  EXPECT_EQ(e.model.layers(), 24);
  EXPECT_EQ(e.cluster.node.gpu.name, "H100_SXM5_80");
}

TEST_F(Reader, FieldsOfCatalogEntriesAreOverriddenDeeply) {
  const Experiment e = read(kModel +
                            "cluster:\n  name: dgx-a100-80g\n  nodes: 2\n  fabric: {oversubscription: 2}\n"
                            "  node: {name: DGX-A100-80, nics: 4, gpu: {name: A100_SXM4_80, memory: 40 GB}}\n" +
                            kStrategy);
  EXPECT_DOUBLE_EQ(e.cluster.fabric.oversubscription, 2);
  EXPECT_EQ(e.cluster.fabric.nodes_per_leaf, 20);
  EXPECT_EQ(e.cluster.node.nics, 4);
  EXPECT_EQ(e.cluster.node.gpu.memory.value, 40000000000);
  EXPECT_EQ(e.cluster.node.gpu.sm_count, 108);
}

TEST_F(Reader, CommandLineOverridesFileOverridesCatalog) {
  const std::string text = "model: {name: gpt2-117m, seq_len: 512}\n" + kCluster + kStrategy;
  EXPECT_EQ(read(text).model.tokens_per_sample(), 512);
  const Experiment e = read(text, {"model.seq_len=256", "simulate.trace=all", "simulate.trace_devices=[3, 1]",
                                   "cluster.fabric.switch_latency=1 us"});
  EXPECT_EQ(e.model.tokens_per_sample(), 256);
  EXPECT_EQ(e.simulate.trace, TraceLevel::all);
  EXPECT_THAT(e.simulate.trace_devices, testing::ElementsAre(1, 3));
  EXPECT_EQ(e.cluster.fabric.switch_latency.ps(), 1000000);
}

TEST_F(Reader, ErrorsOfOverridesNameTheCommandLine) {
  const std::string text = kModel + kCluster + kStrategy;
  EXPECT_EQ(error(text, {"strategy.tp=two"}),
            "--set: strategy.tp: is `two` (expected a whole number, 1 to 2147483648)");
  EXPECT_EQ(error(text, {"model.sq_len=3"}), "--set: model.sq_len: unknown key (did you mean `seq_len`?)");
  EXPECT_EQ(error(text, {"strategy.tp"}), "--set: no `=` in `strategy.tp` (expected path.to.key=value)");
  EXPECT_EQ(error(text, {"strategy.tree.0=x"}),
            "--set: strategy.tree.0: list items cannot be set one by one (expected the whole list, as key=[...])");
  EXPECT_EQ(error(text, {"model.name.x=1"}),
            "--set: model.name.x: `model.name` is not a map (expected a map to set a key of)");
  EXPECT_EQ(error(text, {"model..x=1"}), "--set: model..x: not a key in `model..x=1` (expected path.to.key=value)");
  EXPECT_EQ(error(text, {"model.layers=[1"}),
            "--set: model.layers: the value is not valid YAML: `[1` (expected YAML, as in path.to.key=value)");
}

TEST_F(Reader, MissingFileAndDirectoryAreInputErrors) {
  EXPECT_THROW(read_experiment(directory_ / "none.yaml", {}, catalog()), InputError);
  EXPECT_THROW(read_experiment(directory_, {}, catalog()), InputError);
}

TEST_F(Reader, DevicesAreRangesOrLists) {
  const std::string text = kModel + kCluster + kStrategy;
  EXPECT_EQ(read(text, {"simulate.trace_devices=\"0:4\""}).simulate.trace_devices.size(), 4U);
  EXPECT_THAT(read(text, {"simulate.trace_devices=0:16:6"}).simulate.trace_devices, testing::ElementsAre(0, 6, 12));
  for (const char* bad : {"4:4", "0:17", "-1:3", "0:4:0", "0:4:1:1", "a:b", "[16]", "[]", "[1, 1]", "3", "0:"}) {
    EXPECT_NE(error(text, {std::string("simulate.trace_devices=") + bad}), "") << bad;
  }
}

TEST_F(Reader, ResolvedTextReadsBackToTheSameExperiment) {
  for (const auto& file : fs::recursive_directory_iterator(catalog() / "experiments")) {
    if (file.path().extension() != ".yaml") continue;
    const Experiment first = read_experiment(file.path(), {}, catalog());
    // Nothing may come from the catalog the second time.
    const Experiment second = read_experiment(write(first.resolved), {}, directory_);
    EXPECT_EQ(second.resolved, first.resolved) << file.path();
    EXPECT_EQ(first.resolved.find(PROTEUS_SOURCE_DIR), std::string::npos);
    EXPECT_EQ(second.strategy.tree.size(), first.strategy.tree.size());
    EXPECT_EQ(second.runtime.rules.size(), first.runtime.rules.size());
  }
}

TEST_F(Reader, ResolvedTextKeepsDelaysAndAwkwardNames) {
  const std::string model =
      "model: {label: \"a: b #\\n\\\"c\\\"\", layers: 2, hidden: 64, heads: 4, kv_heads: 2, head_dim: 8, ffn_hidden: "
      "128,"
      " vocab: 100, seq_len: 16, activation: swiglu, normalization: rms_norm, position: rotary, attention: flash,"
      " bias: false, dropout: false, tied_embeddings: true}\n";
  const Experiment e = read(model + kCluster + kStrategy +
                            "simulate: {delays: [{device: 3, position: 17, by: 1 ps}], compute_jitter: 0.05}\n");
  EXPECT_EQ(transformer(e).head_dim, 8);
  const Experiment again = read(e.resolved);
  EXPECT_EQ(again.model.name, "a: b #\n\"c\"");
  ASSERT_EQ(again.simulate.delays.size(), 1U);
  EXPECT_EQ(again.simulate.delays[0].by.ps(), 1);
  EXPECT_EQ(again.simulate.compute_jitter, 0.05);
  EXPECT_EQ(again.resolved, e.resolved);
}

strategy::Strategy elaborate() {
  strategy::Strategy s;
  s.mesh.order = {"tp", "cp", "dp", "pp"};
  s.mesh.sizes = {{"tp", 2}, {"cp", 2}, {"dp", 2}, {"pp", 2}, {"ep", 4}, {"edp", 2}};
  s.mesh.views = {{"expert", {"ep", "edp", "pp"}}};
  s.mesh.groups = {{"fsdp", {"dp", "cp"}}};
  strategy::Annotation a;
  a.selector = "layers[0:4].**:linear";
  a.split = std::map<std::string, std::vector<std::string>>{{"batch", {"dp"}}, {"seq", {"cp", "tp"}}, {"out", {}}};
  a.store = {{"optimizer", {"fsdp"}}, {"saved", {"tp"}}};
  a.recompute = strategy::Recompute::selective;
  a.implementation = "ring";
  strategy::Annotation plain;
  plain.selector = "**";
  plain.split = std::map<std::string, std::vector<std::string>>{};
  s.tree = {a, plain};
  s.stages.chunks_per_stage = 2;
  s.stages.chunks = {{"embedding", "layers[0:3]"}, {"layers[3:6]"}, {"layers[6:9]"}, {"layers[9:12]", "head"}};
  s.schedule = strategy::SchedulePolicy::interleaved_1f1b;
  s.micro_batch = 2;
  s.global_batch = 32;
  s.batch_axis = "dp";
  s.type = DataType::fp16;
  s.runtime = "megatron-core";
  s.overlap_gradient_reduction = true;
  return s;
}

TEST_F(Reader, PrintedStrategyReadsBack) {
  const strategy::Strategy s = elaborate();
  const std::string text = strategy_to_yaml(s);
  const strategy::Strategy again = read(kModel + kCluster + text).strategy;
  EXPECT_EQ(again.mesh.order, s.mesh.order);
  EXPECT_EQ(again.mesh.sizes, s.mesh.sizes);
  EXPECT_EQ(again.mesh.views, s.mesh.views);
  EXPECT_EQ(again.mesh.groups, s.mesh.groups);
  ASSERT_EQ(again.tree.size(), s.tree.size());
  EXPECT_EQ(again.tree[0].selector, s.tree[0].selector);
  EXPECT_EQ(again.tree[0].split, s.tree[0].split);
  EXPECT_EQ(again.tree[0].store, s.tree[0].store);
  EXPECT_EQ(again.tree[0].recompute, s.tree[0].recompute);
  EXPECT_EQ(again.tree[0].implementation, s.tree[0].implementation);
  EXPECT_EQ(again.tree[1].split, s.tree[1].split);
  EXPECT_EQ(again.stages.axis, s.stages.axis);
  EXPECT_EQ(again.stages.chunks_per_stage, s.stages.chunks_per_stage);
  EXPECT_EQ(again.stages.chunks, s.stages.chunks);
  EXPECT_EQ(again.schedule, s.schedule);
  EXPECT_EQ(again.micro_batch, s.micro_batch);
  EXPECT_EQ(again.global_batch, s.global_batch);
  EXPECT_EQ(again.type, s.type);
  EXPECT_EQ(again.overlap_gradient_reduction, s.overlap_gradient_reduction);
  EXPECT_EQ(strategy_to_yaml(again), text);
}

TEST_F(Reader, RulesOfTheUserComeAfterTheCatalogs) {
  const std::string rules = "{name: megatron-core, rules: [{match: {role: gradient}, effect: {type: bf16}}]}";
  const std::string text = kModel + kCluster + kStrategy;
  const std::size_t own = read(text).runtime.rules.size();
  const Experiment e = read(text, {"strategy.runtime=" + rules, "strategy.runtime.host_kernel=7 us"});
  ASSERT_EQ(e.runtime.rules.size(), own + 1);
  EXPECT_EQ(e.runtime.rules.back().effect.type, DataType::bf16);
  EXPECT_EQ(e.runtime.rules.back().match.role, strategy::Role::gradient);
  EXPECT_EQ(e.runtime.host_kernel.ps(), 7000000);
}

TEST_F(Reader, PresetErrorsPointAtTheKeyThatWasWritten) {
  const std::string text = kModel + kCluster + "strategy:\n  preset: megatron\n  tp: 2\n  dp: 3\n  global_batch: 16\n";
  EXPECT_THAT(error(text), testing::StartsWith("e.yaml:6: strategy.dp: 3 with tp 2"));
}

TEST_F(Reader, KeysRefineWhatStandsThereByItsName) {
  const std::string text = kModel + kCluster + kStrategy;
  const Experiment e = read(text, {"cluster.node.gpu.memory=40 GiB", "strategy.runtime.host_kernel=7 us"});
  const Experiment plain = read(text);
  EXPECT_EQ(e.cluster.node.gpu.memory.value, std::int64_t{40} << 30);
  EXPECT_EQ(e.cluster.node.gpu.name, plain.cluster.node.gpu.name);
  EXPECT_EQ(e.cluster.node.nics, plain.cluster.node.nics);
  EXPECT_EQ(e.runtime.host_kernel.ps(), 7'000'000);
  EXPECT_EQ(e.runtime.rules.size(), plain.runtime.rules.size());
}

/// Each file of tests/cli/broken carries in its first line what the one message must be.
TEST_F(Reader, BrokenFilesGiveTheMessageTheyName) {
  int count = 0;
  for (const auto& file : fs::directory_iterator(fs::path(PROTEUS_SOURCE_DIR) / "tests/cli/broken")) {
    std::ifstream stream(file.path());
    std::string first;
    std::getline(stream, first);
    const std::string marker = "# expect: ";
    ASSERT_TRUE(first.starts_with(marker)) << file.path();
    std::string message = "no error";
    try {
      read_experiment(file.path(), {}, catalog());
    } catch (const InputError& problem) {
      message = problem.what();
    }
    EXPECT_EQ(message.find('\n'), std::string::npos);
    const std::string prefix = file.path().parent_path().string() + "/";
    if (message.starts_with(prefix)) message = message.substr(prefix.size());
    EXPECT_TRUE(std::regex_match(message, std::regex(first.substr(marker.size())))) << first << "\n" << message;
    ++count;
  }
  EXPECT_GE(count, 24);
}

/// Cuts and changed bytes of a good file must end in an experiment or in an InputError of one line.
TEST_F(Reader, DamagedFilesNeverDoWorse) {
  const std::string good = kModel + kCluster + kStrategy + "simulate: {trace_devices: \"0:4\", delays: []}\n";
  const std::string bytes = std::string("\0[]{}:,#&*!|>'\"%@`-0x\t\n", 23) + "\xff";
  int errors = 0;
  const auto check = [&](const std::string& text) {
    try {
      read(text);
    } catch (const InputError& problem) {
      ++errors;
      EXPECT_EQ(std::string(problem.what()).find('\n'), std::string::npos) << problem.what();
    }
  };
  for (std::size_t i = 0; i < good.size(); i += 3) {
    check(good.substr(0, i));
    std::string changed = good;
    changed[i] = bytes[i / 3 % bytes.size()];
    check(changed);
  }
  EXPECT_GT(errors, 50);
}

TEST(YamlTree, PrintedTreeParsesToItself) {
  const std::string text =
      "a: {b: \"1\", c: [x, \"0:3\", \"\", \"true\", \"a\\x01b\"]}\nd: null\ne:\n  - {f: 1}\n  - {f: \"-\"}\n";
  const std::string printed = print_yaml(parse_yaml(text, "t"));
  EXPECT_EQ(print_yaml(parse_yaml(printed, "t")), printed);
  const YamlValue tree = parse_yaml(printed, "t");
  EXPECT_TRUE(tree.find("a")->find("b")->quoted);
  EXPECT_EQ(tree.find("a")->find("c")->items[4].text,
            "a\x01"
            "b");
  EXPECT_EQ(tree.find("e")->items[1].find("f")->text, "-");
}

TEST(YamlTree, NearestOffersOnlyWhatIsNear) {
  EXPECT_EQ(nearest("bandwith", {"latency", "bandwidth"}), "bandwidth");
  EXPECT_EQ(nearest("tpp", {"tp", "pp"}), "tp");
  EXPECT_EQ(nearest("colour", {"latency", "bandwidth"}), "");
}

TEST(YamlTree, AliasesThatBlowUpAreRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 9; ++j) text += ", " + last;
    text += "]\n";
  }
  EXPECT_THROW(parse_yaml(text, "t"), InputError);
}

TEST_F(Reader, AStrategyWithoutAPipelineHasOneStage) {
  const Experiment e = read(kModel + kCluster +
                            "strategy: {mesh: {order: [tp, dp], tp: 4, dp: 4}, tree: ['**': {split: {batch: dp}}], "
                            "micro_batch: 1, global_batch: 8, runtime: megatron-core}\n");
  EXPECT_EQ(e.strategy.stages.axis, "pp");
  EXPECT_EQ(e.strategy.mesh.order, (std::vector<std::string>{"tp", "dp", "pp"}));
  EXPECT_EQ(e.strategy.mesh.sizes.at("pp"), 1);
  EXPECT_EQ(e.strategy.batch_axis, "dp");
  EXPECT_EQ(e.strategy.schedule, strategy::SchedulePolicy::one_f_one_b);
  EXPECT_EQ(e.strategy.type, DataType::bf16);
}

TEST_F(Reader, ThePresetDdpIsAReplicaOnEveryDevice) {
  const std::string preset = "strategy:\n  preset: ddp\n  micro_batch: 2\n  global_batch: 64\n";
  const Experiment e = read(kModel + kCluster + preset);
  EXPECT_EQ(e.strategy.mesh.sizes.at("dp"), 16);
  ASSERT_EQ(e.strategy.tree.size(), 1U);
  EXPECT_TRUE(e.strategy.overlap_gradient_reduction);
  EXPECT_EQ(e.runtime.name, "pytorch-ddp");
  // The same written out.
  const strategy::Strategy again = read(kModel + kCluster + strategy_to_yaml(e.strategy)).strategy;
  EXPECT_EQ(strategy_to_yaml(again), strategy_to_yaml(e.strategy));

  EXPECT_THAT(error(kModel + kCluster + preset + "  tp: 2\n"),
              testing::StartsWith("e.yaml:7: strategy.tp: unknown key"));
  EXPECT_THAT(error(kModel + kCluster + "strategy:\n  preset: ddp\n  global_batch: 40\n"),
              testing::StartsWith("e.yaml:5: strategy.global_batch: 40 does not divide"));
}

const std::string kImages =
    "strategy: {mesh: {order: [dp], dp: 16}, tree: ['**': {split: {batch: dp}}], "
    "micro_batch: 1, global_batch: 16, runtime: pytorch-ddp}\n";

TEST_F(Reader, AModelMayBeAConvolutionalNetwork) {
  const Experiment e = read("model: {name: resnet50, classes: 10}\n" + kCluster + kImages);
  const auto& config = std::get<model::ConvNetConfig>(e.model.family);
  EXPECT_EQ(config.architecture, model::ConvNetArchitecture::resnet50);
  EXPECT_EQ(config.classes, 10);
  EXPECT_EQ(config.image_size, 224);
  EXPECT_EQ(e.model.layers(), 16);
  EXPECT_EQ(e.model.tokens_per_sample(), 0);
  EXPECT_EQ(read(e.resolved).resolved, e.resolved);
}

TEST_F(Reader, AConvolutionalNetworkThatIsNoneIsRefused) {
  const std::string rest = "\n" + kCluster + kImages;
  EXPECT_EQ(
      error("model: {family: convnet, architecture: resnet5, image_size: 224, classes: 10}" + rest),
      "e.yaml:1: model.architecture: unknown value `resnet5` (did you mean `resnet50`?) (expected alexnet, vgg11, "
      "vgg13, vgg16, vgg19, resnet18, resnet34, resnet50, resnet101 or resnet152)");
  EXPECT_EQ(error("model: {family: convnet, architecture: alexnet, image_size: 30, classes: 10}" + rest),
            "e.yaml:1: model.image_size: the image is too small for layers[1].pool (expected larger images)");
  EXPECT_EQ(error("model: {family: cnn, architecture: alexnet}" + rest),
            "e.yaml:1: model.family: unknown value `cnn` (expected transformer or convnet)");
}

std::string with_schedule(const std::string& schedule, const std::string& stages = "axis: pp") {
  return kModel + kCluster + "strategy: {mesh: {order: [dp, pp], dp: 8, pp: 2}, tree: ['**': {split: {batch: dp}}],\n" +
         "  stages: {" + stages + "},\n  schedule: {" + schedule +
         "},\n  micro_batch: 1, global_batch: 16, runtime: megatron-core}\n";
}

TEST_F(Reader, ASchedulesOwnOrder) {
  const Experiment e = read(with_schedule("policy: listed, order: [[F0, F1, I0, W0, B1], [F0, I0, F1, B1, W0]]"));
  EXPECT_EQ(e.strategy.schedule, strategy::SchedulePolicy::listed);
  ASSERT_EQ(e.strategy.order.size(), 2u);
  EXPECT_EQ(text_of(e.strategy.order[1][4]), "W0");
  EXPECT_EQ(read(e.resolved).resolved, e.resolved);
  EXPECT_EQ(read(with_schedule("policy: zb-h1")).strategy.schedule, strategy::SchedulePolicy::zb_h1);
  const Experiment v = read(with_schedule("policy: listed, order: [[F0.1], [F0]]",
                                          "axis: pp, chunks_per_stage: 2, placement: v, assign: even"));
  EXPECT_EQ(v.strategy.stages.placement, strategy::ChunkPlacement::v);
  EXPECT_TRUE(v.strategy.stages.even);
  EXPECT_EQ(read(v.resolved).resolved, v.resolved);
}

TEST_F(Reader, AScheduleThatIsNoneIsRefused) {
  EXPECT_EQ(
      error(with_schedule("policy: listed, order: [[F0, X1], [F0]]")),
      "e.yaml:5: strategy.schedule.order[0][1]: no pass (expected F, B, I or W with the micro-batch and the chunk "
      "of the stage, as F3 or W0.1)");
  EXPECT_EQ(error(with_schedule("policy: listed")),
            "e.yaml:5: strategy.schedule.order: required key is missing (expected `order` beside policy)");
  EXPECT_EQ(
      error(with_schedule("policy: 1f1b, order: [[F0]]")),
      "e.yaml:5: strategy.schedule.order: only the policy `listed` has an order (expected no such key, or policy: "
      "listed)");
}

}  // namespace
}  // namespace proteus::io
