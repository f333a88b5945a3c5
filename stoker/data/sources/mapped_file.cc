#include "stoker/data/sources/mapped_file.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// What a person can do about the usual reasons.
std::string hint_for(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "Check the path.";
    case EACCES:
    case EPERM:
      return "Check who may read the file and the folders above it.";
    case ENOMEM:
      return "Address space or memory is short: check ulimit -v.";
    default:
      return "Check that the file can be read, e.g. with cat.";
  }
}

[[noreturn]] void throw_errno(const char* what, const std::filesystem::path& path, int error) {
  throw Error({.what = what,
               .path = path.string(),
               .found = std::generic_category().message(error),
               .hint = hint_for(error)});
}

// Closes on every way out; the mapping outlives the descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // O_NONBLOCK: a named pipe is refused below, where it would otherwise wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw_errno("cannot open file", path, errno);
  const Descriptor descriptor{fd};
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw_errno("cannot examine file", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error({.what = "cannot read file",
                 .path = path.string(),
                 .expected = "a regular file",
                 .found = S_ISDIR(status.st_mode) ? "a folder" : "a device, pipe or socket",
                 .hint = "Copy the data into a file and name that."});
  }
  if (status.st_size == 0) return;  // mmap refuses a length of 0
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) throw_errno("cannot map file into memory", path, errno);
  data_ = static_cast<const std::byte*>(data);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  MappedFile taken(std::move(other));  // frees our own mapping on the way out
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  return *this;
}

}  // namespace stoker
