#include "stoker/pipeline/batch_memory.h"

#include "stoker/core/pages.h"
#include "stoker/core/shared_memory.h"

namespace stoker {
namespace {

class HostBatchMemory final : public BatchMemory {
 public:
  explicit HostBatchMemory(std::size_t bytes) : pages_(bytes, "the batches in flight") {}
  [[nodiscard]] std::span<std::byte> bytes() noexcept override { return pages_.bytes(); }

 private:
  Pages pages_;
};

class SharedBatchMemory final : public BatchMemory {
 public:
  explicit SharedBatchMemory(std::size_t bytes) : memory_(bytes, "the batches in flight") {}
  [[nodiscard]] std::span<std::byte> bytes() noexcept override { return memory_.bytes(); }

 private:
  SharedMemory memory_;
};

}  // namespace

std::unique_ptr<BatchMemory> host_batch_memory(std::size_t bytes) {
  return std::make_unique<HostBatchMemory>(bytes);
}

std::unique_ptr<BatchMemory> shared_batch_memory(std::size_t bytes) {
  return std::make_unique<SharedBatchMemory>(bytes);
}

}  // namespace stoker
