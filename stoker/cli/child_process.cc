#include "stoker/cli/child_process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/cli/trainer_process.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr int kCannotRun = 127;

// In the child: only calls that are allowed between fork and exec.
[[noreturn]] void become(const char* program, char* const* arguments, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotRun);  // it died before that took effect
  ::signal(SIGPIPE, SIG_DFL);                      // which this process may ignore
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
  ::execv(program, arguments);
  ::_exit(kCannotRun);
}

int wait_for(pid_t child, const std::function<bool()>& stop) {
  bool asked = false;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (ended < 0 && errno != EINTR) {
      throw Error({.what = "lost sight of a run", .found = std::strerror(errno)});
    }
    if (!asked && stop && stop()) {
      ::kill(child, SIGUSR1);
      asked = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const std::function<bool()>& stop) {
  std::vector<std::string> words = {program_path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Error({.what = "cannot start a run", .found = std::strerror(errno)});
  if (child == 0) become(words.front().c_str(), pointers.data(), parent);
  return wait_for(child, stop);
}

std::string ending_text(int code) {
  const char* name = code > 128 ? ::sigabbrev_np(code - 128) : nullptr;
  if (name == nullptr) return fmt::format("exit code {}", code);
  const bool may_be_memory = code == 128 + SIGKILL;
  return fmt::format("killed by SIG{}{}", name,
                     may_be_memory ? ": by the system, perhaps for want of memory" : "");
}

}  // namespace stoker
