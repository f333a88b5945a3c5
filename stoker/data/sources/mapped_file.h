// A file mapped into memory for reading: opening costs the same for any length, pages are read when
// they are touched and shared by every process that maps the file.
//
// Owns its mapping; move-only. Any number of threads may read bytes() at once. A file that another
// program makes shorter while it is mapped cannot be read safely (the kernel sends SIGBUS): replace
// data files by renaming, not by writing into them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace stoker {

class MappedFile {
 public:
  MappedFile() = default;  // no file: no bytes
  // Throws Error where `path` is not a regular file that can be read. An empty file has no bytes.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Valid while this object, or the one it was moved to, lives.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace stoker
