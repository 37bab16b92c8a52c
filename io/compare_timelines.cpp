// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "diff.hpp"
#include "proteus/base/error.hpp"
#include "proteus/io/timeline_diff.hpp"
#include "timeline_check.hpp"

namespace proteus::io {
namespace {

constexpr const char* expectation = "a timeline as docs/trace-format.md describes it";

// Of CPU time; a step reads a block of some MiB, which takes a thousandth of it.
constexpr time_t longest_step_s = 10;
// What HDF5 and the C library take for themselves is a tenth of it.
constexpr std::uint64_t memory_beside_the_files = std::uint64_t{256} << 20;

/// What the process that reads tells the one that waits: a kind and two texts.
enum class Word : std::uint8_t { reads, differs, incomplete, refuses, done };

struct Message {
  Word word = Word::done;
  std::string first;
  std::string second;
};

class Sender {
 public:
  explicit Sender(int descriptor) : descriptor_(descriptor) {}

  void send(const Message& message) const {
    std::string bytes(1, static_cast<char>(message.word));
    for (const std::string& text : {message.first, message.second}) {
      const std::uint64_t size = text.size();
      bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
    }
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno != EINTR) ::_exit(1);  // nobody listens any more
      if (count > 0) done += static_cast<std::size_t>(count);
    }
  }

 private:
  int descriptor_;
};

/// All that was said before the other end was closed; the last message may be missing its end.
std::vector<Message> receive(int descriptor) {
  std::string bytes;
  char block[1 << 16];
  for (ssize_t count = 1; count != 0;) {
    count = ::read(descriptor, block, sizeof block);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) bytes.append(block, static_cast<std::size_t>(count));
  }
  std::vector<Message> messages;
  std::size_t at = 0;
  const auto text = [&](std::string& into) {
    std::uint64_t size = 0;
    if (bytes.size() - at < sizeof size) return false;
    std::memcpy(&size, bytes.data() + at, sizeof size);
    at += sizeof size;
    if (bytes.size() - at < size) return false;
    into = bytes.substr(at, size);
    at += size;
    return true;
  };
  while (at < bytes.size()) {
    Message message;
    message.word = static_cast<Word>(bytes[at++]);
    if (!text(message.first) || !text(message.second)) break;
    messages.push_back(std::move(message));
  }
  return messages;
}

/// Lists that lead back into themselves have no end: the process is ended by SIGPROF unless the next step begins in
/// time.
void begin_step() {
  const struct itimerval timer = {.it_interval = {}, .it_value = {.tv_sec = longest_step_s, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

/// Or they fill the memory: what is read is never more than the files twice over and some blocks.
void limit_memory(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::uint64_t now = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t files = std::filesystem::file_size(a) + std::filesystem::file_size(b);
  struct rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, now + 2 * files + memory_beside_the_files);
  ::setrlimit(RLIMIT_AS, &limit);
}

/// In the process that reads: tells what it reads, then what it found.
void read_and_compare(const std::filesystem::path& a, const std::filesystem::path& b, std::size_t limit,
                      const Sender& sender) {
  std::pair<std::string, std::string> now;
  const ReadObserver observer = [&](const std::string& file, const std::string& path) {
    begin_step();
    if (std::pair(file, path) == now) return;
    now = {file, path};
    sender.send({Word::reads, file, path});
  };
  try {
    for (const std::filesystem::path& file : {a, b}) {
      if (!check_timeline(file, observer)) sender.send({Word::incomplete, file.string(), ""});
    }
    for (Difference& difference : diff_timelines(a, b, limit, observer)) {
      sender.send({Word::differs, std::move(difference.path), std::move(difference.what)});
    }
  } catch (const InputError& error) {
    sender.send({Word::refuses, error.what(), ""});
    return;
  } catch (const std::bad_alloc&) {
    ::raise(SIGKILL);  // no room for words; the other process finds its own
  } catch (const std::exception& error) {
    sender.send({Word::refuses, InputError({now.first, 0, 0}, now.second, error.what(), expectation).what(), ""});
    return;
  }
  sender.send({Word::done, "", ""});
}

[[noreturn]] void read_in_child(const std::filesystem::path& a, const std::filesystem::path& b, std::size_t limit,
                                int descriptor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const struct rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // What a library says of its own crash is nothing for the user.
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  limit_memory(a, b);
  read_and_compare(a, b, limit, Sender(descriptor));
  ::_exit(0);
}

[[noreturn]] void throw_system_error(const char* what) { throw std::system_error(errno, std::system_category(), what); }

/// How the process that reads came to an end that it did not tell.
std::string end_of(int status) {
  if (!WIFSIGNALED(status)) return "HDF5 gave up over it";
  if (WTERMSIG(status) == SIGPROF) return "HDF5 finds no end of it";
  if (WTERMSIG(status) == SIGKILL) return "it takes more memory than a file of its size can";
  return fmt::format("HDF5 crashes over it ({})", ::strsignal(WTERMSIG(status)));
}

}  // namespace

TimelineComparison compare_timelines(const std::filesystem::path& a, const std::filesystem::path& b,
                                     std::size_t limit) {
  expect_regular_file(a, "");
  expect_regular_file(b, "");
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_system_error("cannot compare in another process");
  const pid_t child = ::fork();
  if (child < 0) throw_system_error("cannot compare in another process");
  if (child == 0) {
    ::close(ends[0]);
    read_in_child(a, b, limit, ends[1]);
  }
  ::close(ends[1]);
  const std::vector<Message> messages = receive(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }

  TimelineComparison comparison;
  Message last{Word::reads, a.string(), ""};
  bool done = false;
  for (const Message& message : messages) {
    if (message.word == Word::refuses) throw InputError({}, "", message.first, "");
    if (message.word == Word::reads) last = message;
    if (message.word == Word::differs) comparison.differences.push_back({message.first, message.second});
    if (message.word == Word::incomplete) comparison.incomplete.emplace_back(message.first);
    done = done || message.word == Word::done;
  }
  if (done) return comparison;
  throw InputError({last.first, 0, 0}, last.second, "the file is damaged: " + end_of(status), expectation);
}

}  // namespace proteus::io
