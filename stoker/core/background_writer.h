// Writes files behind the back of a thread that has better things to do: one job at a time, on a
// thread of its own.
//
// A job must own what it reads. Its failure is thrown where the owner looks next: by start(),
// check() or wait(). All functions are called by one thread, the owner.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace stoker {

class BackgroundWriter {
 public:
  // The thread's nice value: computing threads get the CPUs first. While the owner waits for a job,
  // its CPU is free for it.
  explicit BackgroundWriter(int niceness = 10);
  // Waits for the job that runs. A failure that nobody looked for is lost.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Waits until the job before has ended, so at most one is held. Throws that one's failure, and
  // then does not start this one.
  void start(std::function<void()> job);
  // Throws the failure of a job that has ended; does not wait.
  void check();
  // Until nothing is left to do; throws the failure of the last job.
  void wait();

 private:
  void run();
  void rethrow_failure();

  const int niceness_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;  // empty: nothing to do
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace stoker
