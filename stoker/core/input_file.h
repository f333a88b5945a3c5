// Files that a user, a table or a listing names, opened for reading. Opening never waits and takes
// regular files only: a pipe, device, socket or folder is refused, also one that was put in the
// place of a file a moment ago.
//
// Nothing is mapped: where another program makes a mapped file shorter, the kernel ends this
// process (SIGBUS). Reading says so in an error with the file's name.
//
// An InputFile keeps a descriptor, a FileBytes memory; both are move-only. Any number of threads
// may read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "stoker/core/pages.h"
#include "stoker/core/result.h"

namespace stoker {

class InputFile {
 public:
  // `what` begins messages: "cannot read the image".
  [[nodiscard]] static Result<InputFile> open(const std::filesystem::path& path,
                                              const char* what = "cannot read file");
  InputFile() = default;  // no file: no bytes
  // As open(); throws Error.
  explicit InputFile(const std::filesystem::path& path, const char* what = "cannot read file");
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // The file was renamed: messages name it so from here on.
  void set_path(const std::filesystem::path& path) { path_ = path.string(); }
  [[nodiscard]] std::uint64_t size() const noexcept;  // when it was opened
  // Fills all of `out`, which it gives back. An error where the file ends before, or cannot be
  // read.
  [[nodiscard]] Result<std::span<const std::byte>> read(std::uint64_t offset,
                                                        std::span<std::byte> out) const;
  // A hint: these bytes are read next, so a disk may begin now. Does not wait for them.
  void expect(std::uint64_t offset, std::uint64_t length) const noexcept;
  // Throws Error where it has more than `most` bytes, or more than this process has memory for.
  void check_size(std::uint64_t most) const;
  // Whether its name was removed. The disk frees its space when the last process closes it.
  [[nodiscard]] bool is_removed() const noexcept;
  // Throws Error where it has another size or time of change than when it was opened.
  void check_unchanged() const;

 private:
  int descriptor_ = -1;
  std::string path_;
  const char* what_ = "";
  struct stat opened_ {};
};

// All of a file, in memory. Costs one copy; a file that is larger than the memory that this process
// may use is refused before any is taken.
class FileBytes {
 public:
  FileBytes() = default;  // no file: no bytes
  // Throws Error where there is no regular file, it cannot be read, has more than `most` bytes or
  // changes meanwhile.
  explicit FileBytes(const std::filesystem::path& path, const char* what = "cannot read file",
                     std::uint64_t most = ~std::uint64_t{0});
  explicit FileBytes(const InputFile& file, std::uint64_t most = ~std::uint64_t{0});

  // Valid while this object, or the one it was moved to, lives.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  [[nodiscard]] std::string_view text() const noexcept;

 private:
  std::unique_ptr<Pages> pages_;
};

// A file of text that fits into memory many times, such as settings.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path,
                                         const char* what = "cannot read file",
                                         std::uint64_t most = std::uint64_t{1} << 28);

}  // namespace stoker
