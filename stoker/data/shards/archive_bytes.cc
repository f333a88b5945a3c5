#include "stoker/data/shards/archive_bytes.h"

#include <algorithm>

#include "stoker/core/digest.h"

namespace stoker {
namespace {

// Read at a time: archives are read from front to back.
constexpr std::uint64_t kWindow = std::uint64_t{1} << 20;

}  // namespace

std::span<const std::byte> ArchiveBytes::part(std::uint64_t offset, std::uint64_t length) {
  if (file_ == nullptr) return memory_.subspan(offset, length);
  if (offset < window_at_ || offset + length > window_at_ + window_.size()) {
    window_.resize(std::min(std::max(length, kWindow), size() - offset));
    window_at_ = offset;
    static_cast<void>(file_->read(offset, window_).value());
  }
  return std::span(window_).subspan(offset - window_at_, length);
}

std::string ArchiveBytes::digest() {
  Digest digest;
  for (std::uint64_t at = 0; at < size(); at += kWindow) {
    digest.add(part(at, std::min(kWindow, size() - at)));
  }
  return digest.hex();
}

}  // namespace stoker
