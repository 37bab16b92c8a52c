// SPDX-License-Identifier: Apache-2.0
#include "proteus/io/event_counts.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "event_counts_hdf5.hpp"
#include "proteus/base/error.hpp"
#include "timeline_check.hpp"
#include "timeline_file.hpp"
#include "timeline_hdf5.hpp"
#include "yaml_parse.hpp"

namespace proteus::io {
namespace {

constexpr const char* path_of_events = "/engine/process_events";
constexpr const char* key = "partition-from";
constexpr const char* wanted = "the timeline of a finished run of this experiment, not folded";

std::string read_text(hid_t id, hid_t type, const char* name, bool attribute) {
  char* text = nullptr;
  hdf5_check(attribute ? H5Aread(id, type, static_cast<void*>(&text))
                       : H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(&text)),
             std::string("read ") + name);
  std::string value = text == nullptr ? "" : text;
  H5free_memory(text);
  return value;
}

std::int64_t integer_attribute(hid_t object, const char* name) {
  std::int64_t value = 0;
  const Hdf5Attribute attribute(hdf5_check(H5Aopen(object, name, H5P_DEFAULT), std::string("read ") + name));
  hdf5_check(H5Aread(attribute.get(), H5T_NATIVE_INT64, &value), std::string("read ") + name);
  return value;
}

struct Earlier {
  EventCounts counts;
  std::string config;
  std::int64_t iterations = 1;
};

Earlier read_counts(const std::filesystem::path& path) {
  const Hdf5PropertyList access = timeline_access();
  const Hdf5File file(hdf5_check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), "open it"));
  if (H5Lexists(file.get(), "engine", H5P_DEFAULT) <= 0 || H5Lexists(file.get(), path_of_events, H5P_DEFAULT) <= 0) {
    throw OutputError(std::string("it has no ") + path_of_events);
  }
  Earlier run;
  run.iterations = integer_attribute(file.get(), "iterations");
  const Hdf5Type text = text_type();
  const Hdf5Dataset config(hdf5_check(H5Dopen2(file.get(), "/config", H5P_DEFAULT), "read /config"));
  run.config = read_text(config.get(), text.get(), "/config", false);

  const Hdf5Dataset events(hdf5_check(H5Dopen2(file.get(), path_of_events, H5P_DEFAULT), "read events"));
  run.counts.islands = static_cast<std::uint32_t>(integer_attribute(events.get(), "islands"));
  run.counts.communicators = static_cast<std::uint32_t>(integer_attribute(events.get(), "communicators"));
  run.counts.domains = static_cast<std::uint32_t>(integer_attribute(events.get(), "domains"));
  const Hdf5Attribute print(hdf5_check(H5Aopen(events.get(), "fingerprint", H5P_DEFAULT), "read fingerprint"));
  run.counts.fingerprint = read_text(print.get(), text.get(), "fingerprint", true);
  const Hdf5Space space(hdf5_check(H5Dget_space(events.get()), "read events"));
  const auto count = hdf5_check(H5Sget_simple_extent_npoints(space.get()), "read events");
  run.counts.events.resize(static_cast<std::size_t>(count));
  hdf5_check(H5Dread(events.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, run.counts.events.data()),
             "read events");
  return run;
}

/// "strategy.pp is 4 there and 2 here" for the first key where the two differ; empty where they are equal.
std::string difference(const YamlValue& there, const YamlValue& here, const std::string& path) {
  if (there.kind == YamlValue::Kind::map && here.kind == YamlValue::Kind::map) {
    for (const YamlEntry& entry : there.entries) {
      const std::string name = path.empty() ? entry.key : path + "." + entry.key;
      const YamlValue* other = here.find(entry.key);
      if (other == nullptr) return name + " is only there";
      if (std::string text = difference(entry.value, *other, name); !text.empty()) return text;
    }
    for (const YamlEntry& entry : here.entries) {
      if (there.find(entry.key) == nullptr) return (path.empty() ? "" : path + ".") + entry.key + " is only here";
    }
    return "";
  }
  const bool lists = there.kind == YamlValue::Kind::sequence && here.kind == YamlValue::Kind::sequence;
  if (lists && there.items.size() == here.items.size()) {
    for (std::size_t i = 0; i < there.items.size(); ++i) {
      std::string text = difference(there.items[i], here.items[i], fmt::format("{}[{}]", path, i));
      if (!text.empty()) return text;
    }
    return "";
  }
  if (lists) return fmt::format("{} has {} entries there and {} here", path, there.items.size(), here.items.size());
  if (there.kind != here.kind) return path + " is of another kind";
  return there.text == here.text ? "" : fmt::format("{} is {} there and {} here", path, there.text, here.text);
}

std::string config_difference(const std::string& there, const std::string& here) {
  YamlValue left = parse_yaml(there, "/config");
  YamlValue right = parse_yaml(here, "the experiment");
  left.remove("simulate");
  right.remove("simulate");
  return difference(left, right, "");
}

/// Empty where `run` is a run of the same job.
std::string what_differs(const Earlier& run, const ExpectedRun& expected) {
  const EventCounts here = event_counts(expected.objects, expected.graph, {});
  std::string config = config_difference(run.config, expected.resolved_config);
  if (!config.empty()) return "it is of another experiment: " + config;
  for (const auto& [what, number, other] :
       {std::tuple("islands", run.counts.islands, here.islands),
        std::tuple("communicators between islands", run.counts.communicators, here.communicators),
        std::tuple("fabric domains", run.counts.domains, here.domains)}) {
    if (number != other) return fmt::format("it has {} {}, but this experiment has {}", number, what, other);
  }
  const std::size_t objects = expected.objects.count();
  if (run.counts.events.size() != objects) {
    return fmt::format("it counts events of {} logical processes, but this experiment has {}", run.counts.events.size(),
                       objects);
  }
  if (run.counts.fingerprint != here.fingerprint) {
    return fmt::format("its logical processes are others: fingerprint {}, but this experiment has {}",
                       run.counts.fingerprint, here.fingerprint);
  }
  if (run.iterations < 1) return fmt::format("it has {} iterations", run.iterations);
  return "";
}

}  // namespace

EventCounts event_counts(const partition::Objects& objects, const partition::CouplingGraph& graph,
                         std::vector<std::uint64_t> events) {
  return {objects.islands(), objects.communicators(), objects.domains(), partition::fingerprint(graph),
          std::move(events)};
}

void write_event_counts(hid_t file, const EventCounts& counts) {
  const Hdf5PropertyList creation(hdf5_check(H5Pcreate(H5P_DATASET_CREATE), "create event counts"));
  const auto size = static_cast<hsize_t>(counts.events.size());
  if (size > 0) {
    // What is alike has equal counts: thousands of them take some hundred bytes.
    hdf5_check(H5Pset_chunk(creation.get(), 1, &size), "create event counts");
    hdf5_check(H5Pset_shuffle(creation.get()), "create event counts");
    hdf5_check(H5Pset_deflate(creation.get(), 1), "create event counts");
  }
  const Hdf5Dataset events = create_dataset(file, path_of_events, H5T_STD_U64LE, {size}, creation.get());
  hdf5_check(H5Dwrite(events.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, counts.events.data()),
             "write event counts");
  write_attribute(events.get(), "islands", std::int64_t{counts.islands});
  write_attribute(events.get(), "communicators", std::int64_t{counts.communicators});
  write_attribute(events.get(), "domains", std::int64_t{counts.domains});
  write_attribute(events.get(), "fingerprint", counts.fingerprint);
}

std::vector<double> measured_events(const std::filesystem::path& file, const ExpectedRun& expected) {
  const Hdf5Quiet quiet;
  expect_regular_file(file, key);
  Earlier run;
  try {
    check_timeline(file, [](const std::string&, const std::string&) {});
    run = read_counts(file);
  } catch (const OutputError& error) {
    throw InputError({file.string(), 0, 0}, key, error.what(), wanted);
  }
  const std::string problem = what_differs(run, expected);
  if (!problem.empty()) throw InputError({file.string(), 0, 0}, key, problem, wanted);
  std::vector<double> events;
  const double scale = static_cast<double>(expected.iterations) / static_cast<double>(run.iterations);
  for (std::uint64_t count : run.counts.events) events.push_back(static_cast<double>(count) * scale);
  return events;
}

}  // namespace proteus::io
