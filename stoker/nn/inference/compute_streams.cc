#include "stoker/nn/inference/compute_streams.h"

#include <latch>
#include <utility>

#include <ATen/Parallel.h>

namespace stoker {

ComputeStreams::ComputeStreams(int threads) {
  const int before = at::get_num_threads();
  std::latch ready(threads);
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, &ready] {
      at::get_num_threads();  // takes the process's number, once in a thread
      at::set_num_threads(1);
      ready.count_down();
      serve();
    });
  }
  ready.wait();
  at::set_num_threads(before);  // for this thread and those to come
}

ComputeStreams::~ComputeStreams() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

void ComputeStreams::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || next_ < count_; });
    if (stopping_) return;
    const std::size_t mine = next_++;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*work_)(mine);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !error_) error_ = error;
    if (--left_ == 0) done_.notify_one();
  }
}

void ComputeStreams::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  next_ = 0;
  count_ = left_ = count;
  wake_.notify_all();
  done_.wait(lock, [&] { return left_ == 0; });
  count_ = 0;
  work_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace stoker
