// Memory that processes share: a nameless file in memory (memfd), mapped. Processes forked later
// see it at the same address, so a pointer into it means the same in each of them. Zeroed; pages
// count only once they are touched, so a generous size costs addresses, not memory.
//
// Owns its mapping; move-only. No descriptor stays open, and the size is sealed: nobody can cut the
// memory off under another process's feet.
#pragma once

#include <cstddef>
#include <span>

namespace stoker {

class SharedMemory {
 public:
  // bytes > 0. Throws Error, with `purpose` ("the batches in flight") and the size, where there is
  // none.
  SharedMemory(std::size_t bytes, const char* purpose);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  // Gives the pages from `begin` on back to the system; they read as zero afterwards.
  void discard_from(std::size_t begin) noexcept;
  // Ends this process's view; the others keep theirs.
  void unmap() noexcept;

 private:
  std::byte* data_;
  std::size_t size_;
};

}  // namespace stoker
