#include "stoker/image/detail/exif.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace stoker::detail {
namespace {

constexpr std::uint16_t kOrientationTag = 0x0112, kShort = 3, kLong = 4;
constexpr std::size_t kEntryBytes = 12;

// A TIFF block: numbers in the byte order that its first two bytes name.
class TiffReader {
 public:
  explicit TiffReader(std::span<const std::byte> block)
      : block_(block), little_(block.size() >= 2 && block[0] == std::byte{'I'}) {}

  [[nodiscard]] std::optional<std::uint32_t> number(std::size_t at, std::size_t bytes) const {
    if (at > block_.size() || block_.size() - at < bytes) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t place = little_ ? at + bytes - 1 - i : at + i;
      value = value << 8 | std::to_integer<std::uint32_t>(block_[place]);
    }
    return value;
  }

 private:
  std::span<const std::byte> block_;
  bool little_;
};

bool has_tiff_start(std::span<const std::byte> block) {
  return block.size() >= 8 &&
         (std::memcmp(block.data(), "II*\0", 4) == 0 || std::memcmp(block.data(), "MM\0*", 4) == 0);
}

int orientation_of_entry(const TiffReader& reader, std::size_t entry) {
  const auto type = reader.number(entry + 2, 2), count = reader.number(entry + 4, 4);
  if (!count || *count != 1 || (*type != kShort && *type != kLong)) return 1;
  const auto value = reader.number(entry + 8, *type == kShort ? 2 : 4);
  return value && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
}

}  // namespace

int exif_orientation(std::span<const std::byte> block) {
  if (block.size() >= 6 && std::memcmp(block.data(), "Exif\0\0", 6) == 0) block = block.subspan(6);
  if (!has_tiff_start(block)) return 1;
  const TiffReader reader(block);
  const std::size_t directory = *reader.number(4, 4);
  const auto entries = reader.number(directory, 2);
  for (std::size_t i = 0; i < entries.value_or(0); ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    const auto tag = reader.number(entry, 2);
    if (!tag) return 1;
    if (*tag == kOrientationTag) return orientation_of_entry(reader, entry);
  }
  return 1;
}

}  // namespace stoker::detail
