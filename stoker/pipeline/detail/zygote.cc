#include "stoker/pipeline/detail/zygote.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/pipeline/detail/sandbox.h"

namespace stoker::detail {
namespace {

enum class Order : std::int32_t { kSpawn, kKill };

struct Command {
  Order order;
  std::int32_t worker;
};

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 0;
  for (const int descriptor : kept) {
    const auto number = static_cast<unsigned>(descriptor);
    if (number > first) close_range(first, number - 1, 0);
    first = number + 1;
  }
  close_range(first, ~0U, 0);
}

// Signals as a new program has them: the handlers of this one would run its code.
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// What runs in the zygote's process.
class Nursery {
 public:
  Nursery(int socket, int workers, const std::vector<int>& kept, std::function<void(int)> work)
      : socket_(socket),
        kept_(kept),
        work_(std::move(work)),
        processes_(static_cast<std::size_t>(workers), kNone),
        own_id_(getpid()) {
    setpgid(0, 0);
    leave_namespaces();
    reset_signals();
    std::vector<int> open = kept_;
    open.push_back(socket_);
    close_all_but(std::move(open));
    sigset_t deaths;
    sigemptyset(&deaths);
    sigaddset(&deaths, SIGCHLD);
    sigprocmask(SIG_BLOCK, &deaths, nullptr);
    deaths_ = signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  [[noreturn]] void run() {
    while (true) {
      pollfd waiting[2] = {{.fd = socket_, .events = POLLIN, .revents = 0},
                           {.fd = deaths_, .events = POLLIN, .revents = 0}};
      if (poll(waiting, 2, -1) < 0) continue;
      if (waiting[1].revents != 0) bury();
      if (waiting[0].revents != 0 && !obey()) end();
    }
  }

 private:
  static constexpr pid_t kNone = 0;

  // False when nobody gives orders any more.
  bool obey() {
    Command command;
    const ssize_t got = recv(socket_, &command, sizeof(command), 0);
    if (got < 0 && errno == EINTR) return true;
    if (got != sizeof(command)) return false;
    pid_t& process = processes_[static_cast<std::size_t>(command.worker)];
    // Not yet buried, so the number cannot belong to another process.
    if (command.order == Order::kKill && process != kNone) ::kill(process, SIGKILL);
    if (command.order == Order::kSpawn && process == kNone) spawn(command.worker);
    return true;
  }

  void spawn(int worker) {
    const pid_t process = fork();
    if (process == 0) become_worker(worker);
    if (process < 0) {
      tell({.worker = worker, .status = Zygote::kNotStarted});
    } else {
      processes_[static_cast<std::size_t>(worker)] = process;
    }
  }

  [[noreturn]] void become_worker(int worker) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != own_id_) _exit(1);  // the zygote ended before the line above
    reset_signals();
    close_all_but(kept_);
    work_(worker);
    _exit(1);
  }

  void bury() {
    signalfd_siginfo ignored;
    while (read(deaths_, &ignored, sizeof(ignored)) > 0) {
    }
    int status = 0;
    for (pid_t dead = 0; (dead = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = std::find(processes_.begin(), processes_.end(), dead);
      if (found == processes_.end()) continue;
      *found = kNone;
      tell({.worker = static_cast<int>(found - processes_.begin()), .status = status});
    }
  }

  void tell(const Zygote::Death& death) { send(socket_, &death, sizeof(death), MSG_NOSIGNAL); }

  [[noreturn]] void end() {
    for (const pid_t process : processes_) {
      if (process != kNone) ::kill(process, SIGKILL);
    }
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    _exit(0);
  }

  int socket_;
  std::vector<int> kept_;
  std::function<void(int)> work_;
  std::vector<pid_t> processes_;  // by worker
  pid_t own_id_;
  int deaths_ = -1;
};

// noexcept: an exception must not unwind into the copy of the program that this process began as.
[[noreturn]] void run_nursery(int socket, int workers, const std::vector<int>& kept,
                              std::function<void(int)> work) noexcept {
  Nursery(socket, workers, kept, std::move(work)).run();
}

}  // namespace

Zygote::Zygote(int workers, const std::vector<int>& kept, std::function<void(int)> work) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(
        {.what = "cannot make a socket for worker processes", .found = std::strerror(errno)});
  }
  process_ = fork();
  if (process_ == 0) run_nursery(ends[1], workers, kept, std::move(work));
  const int error = errno;
  close(ends[1]);
  socket_ = ends[0];
  if (process_ < 0) {
    close(socket_);
    throw Error({.what = "cannot start worker processes", .found = std::strerror(error)});
  }
}

Zygote::~Zygote() {
  // Not close() alone: a process that the program forked has a copy of the descriptor.
  shutdown(socket_, SHUT_RDWR);
  close(socket_);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Zygote::spawn(int worker) noexcept {
  const Command command{.order = Order::kSpawn, .worker = worker};
  send(socket_, &command, sizeof(command), MSG_NOSIGNAL);
}

void Zygote::kill(int worker) noexcept {
  const Command command{.order = Order::kKill, .worker = worker};
  send(socket_, &command, sizeof(command), MSG_NOSIGNAL);
}

std::optional<Zygote::Death> Zygote::next_death() {
  Death death;
  while (true) {
    const ssize_t got = recv(socket_, &death, sizeof(death), MSG_DONTWAIT);
    if (got == sizeof(death)) return death;
    if (got < 0 && errno == EINTR) continue;
    if (got >= 0 || errno != EAGAIN) gone_ = true;
    return std::nullopt;
  }
}

}  // namespace stoker::detail
