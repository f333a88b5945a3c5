#include "stoker/nn/graph/bounded_memory.h"

#include <atomic>

#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/memory_limit.h"

namespace stoker {
namespace {

class BoundedAllocator final : public c10::Allocator {
 public:
  void begin(c10::Allocator* inner, std::uint64_t bytes) {
    inner_ = inner;
    limit_ = bytes;
    left_ = bytes;
  }
  [[nodiscard]] c10::Allocator* inner() const { return inner_; }

  c10::DataPtr allocate(std::size_t bytes) override {
    std::uint64_t left = left_.load();
    do {
      if (bytes > left) fail();
    } while (!left_.compare_exchange_weak(left, left - bytes));
    return inner_->allocate(bytes);
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return inner_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    inner_->copy_data(to, from, count);
  }

 private:
  [[noreturn]] void fail() const {
    throw Error({.what = "the network needs too much memory",
                 .expected = fmt::format("less than {} MiB for two images", limit_ >> 20),
                 .found = "more"});
  }

  c10::Allocator* inner_ = nullptr;
  std::uint64_t limit_ = 0;
  std::atomic<std::uint64_t> left_ = 0;
};

// Lives as long as the process: LibTorch may keep its address.
BoundedAllocator& allocator() {
  static BoundedAllocator one;
  return one;
}

}  // namespace

BoundedMemory::BoundedMemory(std::uint64_t bytes) {
  allocator().begin(c10::GetCPUAllocator(), bytes);
  c10::SetCPUAllocator(&allocator());
}

BoundedMemory::~BoundedMemory() { c10::SetCPUAllocator(allocator().inner()); }

std::uint64_t most_trial_bytes() { return memory_limit() / 4 * 3; }

}  // namespace stoker
