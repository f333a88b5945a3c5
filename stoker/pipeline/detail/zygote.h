// Zygote: a process with one thread whose only task is to start, end and bury worker processes.
//
// Why not fork workers where they are needed: fork() copies one thread. Whatever lock another
// thread holds at that moment stays locked in the copy for ever, and by the time a worker has to be
// replaced, this program runs many threads (the feed's, the trainer's, LibTorch's). The zygote is
// forked once, before the feed starts threads of its own, never starts one, and does nothing that
// takes a lock; every worker, the first as the hundredth replacement, is a copy of it. What may be
// locked by threads that the program had before, the workers never use, except the allocator, which
// glibc's fork() hands over in order.
//
// The zygote ends when the other end of its socket is closed, also because this process was killed;
// the workers are killed by the kernel when the zygote ends. It is in a process group of its own,
// so that Ctrl-C reaches the program alone.
//
// One thread calls next_death(); spawn() and kill() by any.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <sys/types.h>

namespace stoker::detail {

class Zygote {
 public:
  // Forks. `work(i)` runs in worker process i and does not return; `kept` are the descriptors that
  // stay open in it. Throws Error where there can be no process.
  Zygote(int workers, const std::vector<int>& kept, std::function<void(int)> work);
  // Ends all workers and waits until they are gone.
  ~Zygote();
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  void spawn(int worker) noexcept;
  void kill(int worker) noexcept;

  struct Death {
    int worker = 0;
    int status = 0;  // as from wait(); of a worker that could not be started, see kNotStarted
  };
  static constexpr int kNotStarted = -1;
  // Never waits. Nothing also when the zygote itself is gone; gone() tells.
  [[nodiscard]] std::optional<Death> next_death();
  [[nodiscard]] bool gone() const noexcept { return gone_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_; }  // for poll()

 private:
  int socket_ = -1;
  pid_t process_ = -1;
  bool gone_ = false;
};

}  // namespace stoker::detail
