// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "command.hpp"
#include "launcher.hpp"
#include "proteus/base/error.hpp"

namespace proteus::cli {
namespace {

constexpr Command commands[] = {
    {"simulate", "simulate an experiment and write its timeline and summary", run_simulate},
    {"check", "read and check an experiment, nothing more", run_check},
    {"compile", "print what the compiler makes of an experiment", run_compile},
    {"partition", "predict how a job would run on many ranks, without running it", run_partition},
    {"catalog", "list the GPUs, nodes, clusters, models, presets or runtimes that ship with Proteus", run_catalog},
    {"diff", "compare two timelines (exit status 0: equal, 1: different)", run_diff},
};

void print_help() {
  std::cout << "Proteus predicts how a distributed DNN training job behaves on a GPU cluster.\n\n"
               "usage: proteus COMMAND [ARGUMENTS]\n\ncommands:\n";
  for (const Command& command : commands) {
    std::cout << "  " << command.name << std::string(12 - std::string(command.name).size(), ' ') << command.summary
              << "\n";
  }
  std::cout << "\n  --version   version, revision and libraries\n"
               "  --help      this text; `proteus COMMAND --help` for the options of a command\n\n"
               "exit status: 0 done; 1 failed, or files differ; 2 bad input; 73 cannot write; 75 stopped by a signal\n";
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw UsageError("no command; see proteus --help");
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print_help();
    return exit_success;
  }
  if (name == "--version" || name == "-V") {
    std::cout << version_text();
    return exit_success;
  }
  for (const Command& command : commands) {
    if (name == command.name) return command.run({arguments.begin() + 1, arguments.end()});
  }
  throw UsageError("unknown command `" + name + "`; see proteus --help");
}

/// Every rank finds the same error; one of them tells it.
int report(const std::exception& error, int status) {
  if (rank_from_environment() == 0) std::cerr << "proteus: error: " << error.what() << "\n";
  return status;
}

}  // namespace
}  // namespace proteus::cli

int main(int argc, char** argv) {
  namespace cli = proteus::cli;
  // Started by mpirun, every rank would print the same text.
  if (cli::rank_from_environment() != 0) std::cout.setstate(std::ios::failbit);
  try {
    return cli::dispatch(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const proteus::InputError& error) {
    return cli::report(error, cli::exit_bad_input);
  } catch (const cli::UsageError& error) {
    return cli::report(error, cli::exit_bad_input);
  } catch (const proteus::OutputError& error) {
    return cli::report(error, cli::exit_cannot_write);
  } catch (const std::exception& error) {
    return cli::report(error, cli::exit_failure);
  }
}
