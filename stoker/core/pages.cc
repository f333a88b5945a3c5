#include "stoker/core/pages.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include "stoker/core/error.h"

namespace stoker {

Pages::Pages(std::size_t bytes, const char* purpose) : size_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error({.what = fmt::format("cannot get memory for {}", purpose),
                 .expected = fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6),
                 .found = std::strerror(errno)});
  }
  data_ = static_cast<std::byte*>(memory);
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it everything works, only slower
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, size_);
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}

void keep_freed_memory() noexcept {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

}  // namespace stoker
