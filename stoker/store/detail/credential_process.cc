#include "stoker/store/detail/credential_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kWordSpaces = " \t\r\n";
constexpr int kPollMs = 50;  // how late a stop is seen

[[noreturn]] void fail_process(std::string found) {
  throw Error({.what = "cannot run the command", .found = std::move(found)});
}

// The part of a word that begins here: one character, or all within quotes.
std::string part_of_word(std::string_view& rest) {
  const char first = rest.front();
  rest.remove_prefix(1);
  if (first == '\\') {
    if (rest.empty()) fail_process("a backslash at its end");
    const std::string next(1, rest.front());
    rest.remove_prefix(1);
    return next;
  }
  if (first != '\'' && first != '"') return std::string(1, first);
  std::string part;
  while (!rest.empty() && rest.front() != first) {
    const bool escaped = first == '"' && (rest.starts_with("\\\"") || rest.starts_with("\\\\"));
    if (escaped) rest.remove_prefix(1);
    part += rest.front();
    rest.remove_prefix(1);
  }
  if (rest.empty()) fail_process("a quote without an end");
  rest.remove_prefix(1);
  return part;
}

// A pipe whose ends close with it.
struct OutputPipe {
  OutputPipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      fail_process(std::generic_category().message(errno));
    }
  }
  ~OutputPipe() {
    ::close(ends[0]);
    close_writer();
  }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  void close_writer() {
    if (ends[1] >= 0) ::close(std::exchange(ends[1], -1));
  }
  std::array<int, 2> ends{-1, -1};
};

// A program in a process group of its own, with the signals of a new program. If it has not ended,
// the destructor kills its group and waits for it.
class Program {
 public:
  Program(const std::vector<std::string>& words, int output) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int error =
        ::posix_spawnp(&process_, arguments[0], &files, &attributes, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) {
      process_ = -1;
      fail_process(std::generic_category().message(error));
    }
  }
  ~Program() {
    if (status_) return;
    ::kill(-process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // As a shell has it, 128 and the number of the signal that killed it; nothing where it runs.
  std::optional<int> status() {
    if (status_) return status_;
    int raw = 0;
    const pid_t found = ::waitpid(process_, &raw, WNOHANG);
    if (found == process_) status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    if (found < 0 && errno == ECHILD) status_ = 0;  // this process ignores its children's ends
    return status_;
  }

 private:
  pid_t process_ = -1;
  std::optional<int> status_;
};

// Waits for output or, briefly, for the program's end. False at the end of the output.
bool read_some(int pipe, std::string& output, std::size_t most) {
  pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, kPollMs) <= 0) return true;
  std::array<char, 4096> piece{};
  const ssize_t got = ::read(pipe, piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  output.append(piece.data(), static_cast<std::size_t>(got));
  if (output.size() > most) fail_process(fmt::format("more than {} bytes of output", most));
  return true;
}

}  // namespace

std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> words;
  bool inside = false;
  while (!command.empty()) {
    if (kWordSpaces.find(command.front()) != std::string_view::npos) {
      inside = false;
      command.remove_prefix(1);
      continue;
    }
    if (!std::exchange(inside, true)) words.emplace_back();
    words.back() += part_of_word(command);
  }
  if (words.empty() || words.front().empty()) fail_process("no program");
  return words;
}

std::string output_of(const std::vector<std::string>& words, const ProcessLimits& limits,
                      const std::stop_token& stop) {
  const Clock::time_point end = Clock::now() + limits.time;
  OutputPipe pipe;
  Program program(words, pipe.ends[1]);
  pipe.close_writer();
  std::string output;
  bool open = true;
  while (true) {
    // Asked for before reading: after its end, all that it wrote can be read at once, even where a
    // program that it left behind keeps the pipe open.
    const std::optional<int> status = program.status();
    const std::size_t before = output.size();
    if (open) {
      open = read_some(pipe.ends[0], output, limits.bytes);
    } else {
      ::poll(nullptr, 0, kPollMs / 10);
    }
    if (status && (!open || output.size() == before)) {
      if (*status != 0) fail_process(fmt::format("exit status {}", *status));
      return output;
    }
    if (Clock::now() > end) {
      fail_process(
          fmt::format("no end within {} s", std::chrono::duration<double>(limits.time).count()));
    }
    if (stop.stop_requested()) fail_process("a stop");
  }
}

}  // namespace stoker::detail
