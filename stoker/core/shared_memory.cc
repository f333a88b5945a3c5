#include "stoker/core/shared_memory.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// The mapping keeps the file alive; its descriptor is closed at once.
void* map_new_file(std::size_t bytes) {
  const int file = memfd_create("stoker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return MAP_FAILED;
  void* memory = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  const int error = errno;
  close(file);
  errno = error;
  return memory;
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes, const char* purpose) : size_(bytes) {
  void* memory = map_new_file(bytes);
  if (memory == MAP_FAILED) {
    throw Error({.what = fmt::format("cannot get memory that processes share, for {}", purpose),
                 .expected = fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6),
                 .found = std::strerror(errno)});
  }
  data_ = static_cast<std::byte*>(memory);
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it everything works, only slower
}

SharedMemory::~SharedMemory() { unmap(); }

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

void SharedMemory::discard_from(std::size_t begin) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t first = (begin + page - 1) / page * page;
  if (first < size_) madvise(data_ + first, size_ - first, MADV_REMOVE);
}

void SharedMemory::unmap() noexcept {
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace stoker
