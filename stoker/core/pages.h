// Memory straight from the kernel, zeroed, in large pages where it offers them: random access to
// tens of megabytes then misses the address caches far less often. For large, long-lived buffers.
// Owns its memory; move-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker {

class Pages {
 public:
  // bytes > 0. Throws Error, with `purpose` ("the batches in flight") and the size, where there is
  // none.
  Pages(std::size_t bytes, const char* purpose);
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  std::byte* data_;
  std::size_t size_;
};

// Tells the allocator to keep memory that is freed instead of giving it back to the system: a
// training step frees and takes the same tens of megabytes, and every page would be faulted in and
// cleared again. For the whole process; a program calls it once, at its start.
void keep_freed_memory() noexcept;

}  // namespace stoker
