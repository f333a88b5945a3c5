#include "stoker/pipeline/batch_memory.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// Pages straight from the kernel: zeroed when first touched, by the worker that fills them.
class HostBatchMemory final : public BatchMemory {
 public:
  explicit HostBatchMemory(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
      throw Error({.what = "cannot get memory for the batches",
                   .expected = fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6),
                   .found = std::strerror(errno),
                   .hint = "A smaller batch or fewer batches in flight need less"});
    }
  }
  ~HostBatchMemory() override { munmap(data_, bytes_); }
  HostBatchMemory(const HostBatchMemory&) = delete;
  HostBatchMemory& operator=(const HostBatchMemory&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() noexcept override {
    return {static_cast<std::byte*>(data_), bytes_};
  }

 private:
  void* data_;
  std::size_t bytes_;
};

}  // namespace

std::unique_ptr<BatchMemory> host_batch_memory(std::size_t bytes) {
  return std::make_unique<HostBatchMemory>(bytes);
}

}  // namespace stoker
