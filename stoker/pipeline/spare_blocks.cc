#include "stoker/pipeline/spare_blocks.h"

#include <utility>

namespace stoker {

SpareBlocks::SpareBlocks(Options options)
    : options_(std::move(options)), most_blocks_(options_.most_bytes / options_.block_bytes) {
  if (options_.reserved && most_blocks_ > 0) reserve_all();
}

void SpareBlocks::reserve_all() {
  reservation_ = options_.make_memory(most_blocks_ * options_.block_bytes);
  free_.reserve(most_blocks_);
  // The first one last: blocks are taken from the back, so few pages are ever touched.
  for (std::size_t i = most_blocks_; i-- > 0;) {
    free_.push_back(reservation_->bytes().data() + i * options_.block_bytes);
  }
}

std::byte* SpareBlocks::take() {
  {
    const std::lock_guard lock(mutex_);
    if (most_blocks_ == 0) return nullptr;
    if (!free_.empty()) {
      std::byte* block = free_.back();
      free_.pop_back();
      return block;
    }
    if (options_.reserved || made_.size() >= most_blocks_) return nullptr;
  }
  return make();
}

// Without the lock: who makes memory may wait for a thread that is giving a block back. Only the
// reader makes blocks, so there are no more meanwhile.
std::byte* SpareBlocks::make() {
  auto memory = options_.make_memory(options_.block_bytes);
  std::byte* block = memory->bytes().data();
  const std::lock_guard lock(mutex_);
  // Every block in use is one of ours or stands for one, so give_back() never needs memory.
  free_.reserve(made_.size() + 1);
  made_.emplace(block, std::move(memory));
  return block;
}

void SpareBlocks::give_back(std::byte* block) noexcept {
  std::unique_ptr<BatchMemory> unused;  // given to the system after the lock
  const std::lock_guard lock(mutex_);
  const auto found = made_.find(block);
  if (found != made_.end() && free_.size() >= options_.kept) {
    unused = std::move(found->second);
    made_.erase(found);
    return;
  }
  free_.push_back(block);
}

std::size_t SpareBlocks::made() const {
  const std::lock_guard lock(mutex_);
  return made_.size();
}

}  // namespace stoker
