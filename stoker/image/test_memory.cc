#include "stoker/image/test_memory.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#include <malloc.h>

#include "stoker/core/sanitizers.h"

namespace stoker::test {
namespace {

std::atomic<std::int64_t> live{0}, peak{0};

void note(std::int64_t change) {
  const std::int64_t now = live.fetch_add(change, std::memory_order_relaxed) + change;
  std::int64_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

std::int64_t live_bytes() { return live; }
std::int64_t peak_bytes() { return peak; }
void reset_peak() { peak = live.load(); }

}  // namespace stoker::test

#if STOKER_ASAN || STOKER_TSAN

// Of the sanitizers' allocator; GCC has the functions but not their header.
extern "C" {
std::size_t __sanitizer_get_allocated_size(const volatile void*);
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                              void (*)(const volatile void*));
}

namespace {

void on_malloc(const volatile void* at, std::size_t size) {
  if (at != nullptr) stoker::test::note(static_cast<std::int64_t>(size));
}
void on_free(const volatile void* at) {
  if (at == nullptr) return;
  const auto size = __sanitizer_get_allocated_size(at);
  stoker::test::note(-static_cast<std::int64_t>(size));
}
const int kInstalled = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);

}  // namespace

#else

// The program's own definitions come before glibc's, for libraries too.
extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

static void* counted(void* at) {
  if (at != nullptr) stoker::test::note(static_cast<std::int64_t>(malloc_usable_size(at)));
  return at;
}
static void uncounted(void* at) {
  if (at != nullptr) stoker::test::note(-static_cast<std::int64_t>(malloc_usable_size(at)));
}

void* malloc(std::size_t size) { return counted(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return counted(__libc_calloc(count, size)); }
void* memalign(std::size_t alignment, std::size_t size) {
  return counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
void* realloc(void* at, std::size_t size) {
  uncounted(at);
  void* moved = __libc_realloc(at, size);
  if (moved == nullptr && size != 0) return counted(at), nullptr;  // the old block stays
  return counted(moved);
}
void free(void* at) {
  uncounted(at);
  __libc_free(at);
}

}  // extern "C"

#endif
