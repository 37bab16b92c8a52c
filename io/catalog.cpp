// SPDX-License-Identifier: Apache-2.0
#include "catalog.hpp"

#include <algorithm>
#include <cstdlib>

#include "proteus/io/experiment.hpp"
#include "proteus/version.hpp"
#include "yaml_parse.hpp"

namespace proteus::io {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator it(directory, failed); !failed && it != end; it.increment(failed)) {
    if (it->path().extension() != ".yaml") continue;
    names.push_back(it->path().lexically_relative(directory).replace_extension().generic_string());
  }
  std::ranges::sort(names);
  return names;
}

std::string first_line(const YamlValue* text) {
  if (text == nullptr || text->kind != YamlValue::Kind::scalar) return "";
  return text->text.substr(0, text->text.find('\n'));
}

}  // namespace

YamlValue load_catalog_entry(const fs::path& catalog, const std::string& section, const std::string& name,
                             const YamlItem& asked) {
  // The name is only ever compared, never made into a path, so that "../x" cannot leave the catalog.
  const std::vector<std::string> names = names_in(catalog / section);
  if (std::ranges::find(names, name) == names.end()) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string near = nearest(name, views);
    asked.fail("the catalog has no " + quoted_for_message(name) + " in " + section +
                   (near.empty() ? "" : " (did you mean `" + near + "`?)"),
               near.empty() && !names.empty() ? one_of(views) : "a name of the catalog");
  }
  return parse_yaml_file(catalog / section / (name + ".yaml"));
}

YamlValue resolve_named(const YamlItem& item, const fs::path& catalog, const std::string& section) {
  const YamlValue* name_value = item.is_map() ? item.value().find("name") : &item.value();
  if (name_value == nullptr) return item.value();
  const YamlItem asked(*name_value, item.is_map() ? item.path() + ".name" : item.path());
  const std::string name = asked.text();
  YamlValue result = load_catalog_entry(catalog, section, name, asked);
  if (item.is_map()) {
    YamlValue over = item.value();
    over.remove("name");
    result = merge(std::move(result), over);
  }
  if (result.kind == YamlValue::Kind::map && result.find("label") == nullptr) {
    result.set("label", YamlValue::string(name));
  }
  return result;
}

std::vector<std::string_view> with_description_keys(std::vector<std::string_view> known) {
  known.insert(known.end(), {"label", "description", "source", "confidence", "basis", "notes"});
  return known;
}

fs::path find_catalog() {
  if (const char* chosen = std::getenv("PROTEUS_CATALOG"); chosen != nullptr && *chosen != '\0') {
    if (!fs::is_directory(chosen)) {
      throw InputError({}, "PROTEUS_CATALOG", quoted_for_message(chosen) + " is not a directory", "the catalog");
    }
    return chosen;
  }
  std::error_code failed;
  const fs::path binary = fs::read_symlink("/proc/self/exe", failed);
  fs::path installed = binary.parent_path().parent_path() / "share" / "proteus" / "catalog";
  if (!failed && fs::is_directory(installed, failed)) return installed;
  if (fs::is_directory(source_catalog, failed)) return source_catalog;
  throw InputError({}, "PROTEUS_CATALOG", "no catalog in " + installed.string() + " or " + source_catalog,
                   "the directory of the catalog in this environment variable");
}

std::vector<CatalogEntry> list_catalog(const std::string& section, const fs::path& catalog) {
  const std::vector<std::string_view> sections = {"gpus",    "nodes",    "clusters",   "models",
                                                  "presets", "runtimes", "experiments"};
  if (std::ranges::find(sections, section) == sections.end()) {
    throw InputError({}, "", "the catalog has no section " + quoted_for_message(section), one_of(sections));
  }
  std::vector<CatalogEntry> entries;
  for (const std::string& name : names_in(catalog / section)) {
    const YamlValue value = parse_yaml_file(catalog / section / (name + ".yaml"));
    entries.push_back({name, first_line(value.find("description")), first_line(value.find("source"))});
  }
  return entries;
}

}  // namespace proteus::io
