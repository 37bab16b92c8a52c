// SPDX-License-Identifier: Apache-2.0
#include "model_yaml.hpp"

#include "catalog.hpp"
#include "convnet_yaml.hpp"
#include "huggingface.hpp"
#include "transformer_yaml.hpp"

namespace proteus::io {
namespace {

namespace fs = std::filesystem;

enum class Family : std::uint8_t { transformer, convnet };

YamlItem file_key(const YamlItem& item) { return {*item.value().find("file"), item.path() + ".file"}; }

YamlValue described(const YamlItem& item, const fs::path& catalog, const fs::path& directory) {
  if (!item.is_map() || item.value().find("file") == nullptr) return resolve_named(item, catalog, "models");
  if (item.value().find("name") != nullptr) {
    item.fail("has both `name` and `file`", "one of them");
  }
  const YamlItem file = file_key(item);
  const std::string written = file.text();
  const fs::path path = model_file(item, directory);
  if (!fs::is_regular_file(path)) file.fail("no such file: " + quoted_for_message(written), "a config.json");
  YamlValue over = item.value();
  over.remove("file");
  return merge(read_huggingface_config(path, written), over);
}

Family family_of(const YamlItem& item) {
  const YamlValue* family = item.is_map() ? item.value().find("family") : nullptr;
  if (family == nullptr) return Family::transformer;
  return YamlItem{*family, item.path() + ".family"}.choice<Family>(
      {{"transformer", Family::transformer}, {"convnet", Family::convnet}});
}

YamlValue family_to_yaml(const model::TransformerConfig& config) { return transformer_to_yaml(config); }
YamlValue family_to_yaml(const model::ConvNetConfig& config) { return convnet_to_yaml(config); }

std::string text_or(const YamlItem& item, const std::string& key, const std::string& fallback) {
  const YamlValue* found = item.value().find(key);
  return found == nullptr ? fallback : YamlItem{*found, item.path() + "." + key}.text();
}

}  // namespace

fs::path model_file(const YamlItem& item, const fs::path& directory) {
  if (!item.is_map() || item.value().find("file") == nullptr) return {};
  // An absolute path stays what it is.
  return directory / file_key(item).text();
}

model::Model read_model(const YamlItem& item, const fs::path& catalog, const fs::path& directory) {
  const YamlValue value = described(item, catalog, directory);
  const YamlItem whole{value, item.path()};
  model::Model model;
  model.where = item.where();
  switch (family_of(whole)) {
    case Family::transformer:
      model.family = read_transformer(whole);
      break;
    case Family::convnet:
      model.family = read_convnet(whole);
      break;
  }
  model.name = text_or(whole, "label", "inline");
  model.source = text_or(whole, "source", "");
  return model;
}

YamlValue model_to_yaml(const model::Model& model) {
  YamlValue map = std::visit([](const auto& config) { return family_to_yaml(config); }, model.family);
  map.set("label", YamlValue::string(model.name));
  if (!model.source.empty()) map.set("source", YamlValue::string(model.source));
  return map;
}

}  // namespace proteus::io
