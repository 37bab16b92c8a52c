// SPDX-License-Identifier: Apache-2.0
#include "convnet_yaml.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog.hpp"

namespace proteus::io {
namespace {

using model::ConvNetArchitecture;

const std::vector<std::pair<std::string_view, ConvNetArchitecture>>& architectures() {
  static const std::vector<std::pair<std::string_view, ConvNetArchitecture>> list{
      {"alexnet", ConvNetArchitecture::alexnet},     {"vgg11", ConvNetArchitecture::vgg11},
      {"vgg13", ConvNetArchitecture::vgg13},         {"vgg16", ConvNetArchitecture::vgg16},
      {"vgg19", ConvNetArchitecture::vgg19},         {"resnet18", ConvNetArchitecture::resnet18},
      {"resnet34", ConvNetArchitecture::resnet34},   {"resnet50", ConvNetArchitecture::resnet50},
      {"resnet101", ConvNetArchitecture::resnet101}, {"resnet152", ConvNetArchitecture::resnet152}};
  return list;
}

}  // namespace

model::ConvNetConfig read_convnet(const YamlItem& item) {
  const YamlMap map(item, with_description_keys({"architecture", "image_size", "classes", "family"}));
  model::ConvNetConfig config;
  config.architecture = map.at("architecture").choice<ConvNetArchitecture>(architectures());
  constexpr std::int64_t largest_image = 1 << 15;
  constexpr std::int64_t most_classes = 1 << 24;
  config.image_size = map.at("image_size").integer(1, largest_image);
  config.classes = map.at("classes").integer(1, most_classes);
  try {
    build_convnet(config, {});
  } catch (const std::invalid_argument& error) {
    map.at("image_size").fail(error.what(), "larger images");
  }
  return config;
}

YamlValue convnet_to_yaml(const model::ConvNetConfig& config) {
  const auto name =
      std::ranges::find(architectures(), config.architecture, [](const auto& entry) { return entry.second; });
  YamlValue map = YamlValue::map();
  map.set("family", YamlValue::plain("convnet")).set("architecture", YamlValue::plain(std::string(name->first)));
  map.set("image_size", YamlValue::plain(std::to_string(config.image_size)));
  map.set("classes", YamlValue::plain(std::to_string(config.classes)));
  return map;
}

}  // namespace proteus::io
