// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "proteus/base/error.hpp"

namespace proteus::cli {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string what;
  fs::path file;
};

/// By whatever names.
bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  if (fs::equivalent(a, b, failed)) return true;
  return fs::weakly_canonical(fs::absolute(io::linked_file(a)), failed) ==
         fs::weakly_canonical(fs::absolute(io::linked_file(b)), failed);
}

/// All that is written on the way to `file`.
std::array<fs::path, 3> names_of(const fs::path& file) {
  const fs::path target = io::linked_file(file);
  return {target, io::OutputFile::part_of(target), io::OutputFile::lock_of(target)};
}

bool in_catalog(const fs::path& file) {
  std::error_code failed;
  if (!fs::is_regular_file(file, failed) || file.extension() != ".yaml") return false;
  const fs::path catalog = io::find_catalog();
  for (fs::path folder = fs::canonical(file, failed).parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (fs::equivalent(folder, catalog, failed)) return true;
  }
  return false;
}

void check_against_inputs(const Named& output, const std::vector<Named>& inputs) {
  for (const fs::path& name : names_of(output.file)) {
    for (const Named& input : inputs) {
      if (same_file(name, input.file)) {
        throw UsageError(output.what + " " + output.file.string() + " would replace " + input.what + " " +
                         input.file.string());
      }
    }
  }
  if (in_catalog(output.file)) {
    throw UsageError(output.what + " " + output.file.string() + " would replace an entry of the catalog");
  }
}

}  // namespace

void check_outputs(const SimulateSettings& settings, const io::Experiment& experiment) {
  std::vector<Named> inputs{{"the experiment", experiment.file}};
  if (!experiment.model_file.empty()) inputs.push_back({"the description of the model", experiment.model_file});
  if (!settings.partition_from.empty())
    inputs.push_back({"the timeline that --partition-from reads,", settings.partition_from});
  std::vector<Named> outputs;
  if (!settings.output.empty()) outputs.push_back({"--output", settings.output});
  if (!settings.json.empty()) outputs.push_back({"--json", settings.json});
  for (const Named& output : outputs) {
    io::check_output(output.file);
    check_against_inputs(output, inputs);
  }
  if (outputs.size() < 2) return;
  for (const fs::path& a : names_of(outputs[0].file)) {
    for (const fs::path& b : names_of(outputs[1].file)) {
      if (same_file(a, b)) {
        throw UsageError("--output " + outputs[0].file.string() + " and --json " + outputs[1].file.string() +
                         " would both write " + a.string());
      }
    }
  }
}

std::unique_ptr<io::OutputFile> open_json(const SimulateSettings& settings, const MpiSession& mpi) {
  if (settings.json.empty()) return nullptr;
  std::unique_ptr<io::OutputFile> file;
  std::string error;
  if (mpi.rank() == 0) {
    try {
      file = std::make_unique<io::OutputFile>(settings.json);
    } catch (const OutputError& failure) {
      error = failure.what();
    }
  }
  if (mpi.gather({error.empty() ? 0 : 1}).front().front() != 0) throw OutputError(error);
  return file;
}

}  // namespace proteus::cli
