#include "stoker/core/background_writer.h"

#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace stoker {

BackgroundWriter::BackgroundWriter(int niceness) : niceness_(niceness) {
  thread_ = std::thread([this] { run(); });
}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::start(std::function<void()> job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !job_; });
  rethrow_failure();
  job_ = std::move(job);
  changed_.notify_all();
}

void BackgroundWriter::check() {
  const std::lock_guard lock(mutex_);
  rethrow_failure();
}

void BackgroundWriter::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !job_; });
  rethrow_failure();
}

void BackgroundWriter::rethrow_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BackgroundWriter::run() {
  if (niceness_ > 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return job_ || ends_; });
    if (!job_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      job_();  // start() leaves it alone until it is empty
    } catch (...) {
      failure = std::current_exception();
    }
    std::function<void()> done;  // what the job owns goes without the lock
    lock.lock();
    failure_ = failure;
    std::swap(done, job_);
    changed_.notify_all();
    lock.unlock();
    done = nullptr;
    lock.lock();
  }
}

}  // namespace stoker
