// The bytes of an archive, in memory or in a file of any size, which is read part by part.
// One thread at a time; memory and file belong to the caller and must outlive this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/input_file.h"

namespace stoker {

class ArchiveBytes {
 public:
  ArchiveBytes(std::span<const std::byte> bytes) : memory_(bytes) {}  // NOLINT: a span will do
  explicit ArchiveBytes(const InputFile& file) : file_(&file) {}

  [[nodiscard]] std::uint64_t size() const noexcept {
    return file_ == nullptr ? memory_.size() : file_->size();
  }
  // Valid until the next call. The part lies inside the archive. Throws Error where the file cannot
  // be read, or has become shorter.
  [[nodiscard]] std::span<const std::byte> part(std::uint64_t offset, std::uint64_t length);
  // Of all bytes (core/digest.h).
  [[nodiscard]] std::string digest();

 private:
  std::span<const std::byte> memory_;
  const InputFile* file_ = nullptr;
  std::vector<std::byte> window_;  // of the file
  std::uint64_t window_at_ = 0;
};

}  // namespace stoker
