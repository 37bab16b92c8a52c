// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
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

/// A file that is opened while a standard stream is closed would become that stream. What is in the place of a closed
/// standard output cannot be written either.
void fill_standard_streams() {
  for (const auto& [stream, mode] : {std::pair(0, O_RDONLY), std::pair(1, O_RDONLY), std::pair(2, O_WRONLY)}) {
    // The lowest number that is free, which is this one.
    if (::fcntl(stream, F_GETFD) == -1 && ::open("/dev/null", mode) != stream) std::abort();
  }
}

void prepare_process() {
  fill_standard_streams();
  // A write behind the limit on the size of files shall fail with an error.
  std::signal(SIGXFSZ, SIG_IGN);
  // HDF5 does not survive to close a file at exit that could not be written before (io/hdf5_handle.hpp).
  H5dont_atexit();
  // Started by mpirun, every rank would print the same text.
  if (rank_from_environment() != 0) std::cout.setstate(std::ios::failbit);
}

/// Nobody shall take what never arrived for a success, or for files that differ.
int with_output_written(int status) {
  if ((status != exit_success && status != exit_failure) || rank_from_environment() != 0) return status;
  errno = 0;
  if (std::cout.flush()) return status;
  const int error = errno;
  std::cerr << "proteus: error: cannot write standard output" +
                   (error == 0 ? std::string() : std::string(": ") + std::strerror(error)) + "\n";
  return exit_cannot_write;
}

/// Every rank finds the same error; one of them tells it, and the others let it: a launcher ends all ranks as soon as
/// the first of them has failed.
int report(const std::exception& error, int status) {
  if (rank_from_environment() == 0) {
    std::cerr << "proteus: error: " + std::string(error.what()) + "\n";
  } else {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return status;
}

}  // namespace
}  // namespace proteus::cli

int main(int argc, char** argv) {
  namespace cli = proteus::cli;
  cli::prepare_process();
  try {
    return cli::with_output_written(cli::dispatch(std::vector<std::string>(argv + 1, argv + argc)));
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
