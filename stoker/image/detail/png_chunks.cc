#include "stoker/image/detail/png_chunks.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "stoker/image/detail/exif.h"

namespace stoker::detail {
namespace {

constexpr std::size_t kSignatureBytes = 8, kHeaderBytes = 13;
constexpr std::size_t kAroundData = 12;  // length, name, checksum
enum ColourType : std::uint8_t { kGrey = 0, kRgb = 2, kPalette = 3, kGreyAlpha = 4, kRgba = 6 };

std::uint32_t big_endian(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(at[i]);
  return value;
}

struct Chunk {
  std::string_view name;
  std::span<const std::byte> data;
  std::size_t offset = 0;  // of its length, in the file

  [[nodiscard]] std::size_t end() const { return offset + kAroundData + data.size(); }
  [[nodiscard]] bool checksum_holds() const {
    const auto* named = reinterpret_cast<const Bytef*>(data.data()) - 4;
    return crc32_z(0, named, data.size() + 4) == big_endian(data.data() + data.size());
  }
};

// The chunk at `offset`, where all of it is there.
std::optional<Chunk> chunk_at(std::span<const std::byte> bytes, std::size_t offset) {
  if (bytes.size() - offset < kAroundData) return std::nullopt;
  const std::size_t length = big_endian(bytes.data() + offset);
  if (length > bytes.size() - offset - kAroundData) return std::nullopt;
  return Chunk{{reinterpret_cast<const char*>(bytes.data() + offset + 4), 4},
               bytes.subspan(offset + 8, length),
               offset};
}

bool valid_depth(int colour_type, int bits) {
  switch (colour_type) {
    case kGrey:
      return bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16;
    case kPalette:
      return bits == 1 || bits == 2 || bits == 4 || bits == 8;
    case kRgb:
    case kGreyAlpha:
    case kRgba:
      return bits == 8 || bits == 16;
    default:
      return false;
  }
}

Result<StoredHeader> parse_first(const Chunk& chunk) {
  const auto wrong = [&chunk](std::string found) {
    return decode_error(ImageFormat::kPng, std::move(found), chunk.offset);
  };
  if (chunk.name != "IHDR" || chunk.data.size() != kHeaderBytes) {
    return wrong("no IHDR as the first chunk");
  }
  const std::uint32_t width = big_endian(&chunk.data[0]), height = big_endian(&chunk.data[4]);
  constexpr std::uint32_t kMost = std::numeric_limits<int>::max();
  if (width == 0 || height == 0 || width > kMost || height > kMost) {
    return wrong(fmt::format("a width of {} and a height of {}", width, height));
  }
  const int bits = std::to_integer<int>(chunk.data[8]), type = std::to_integer<int>(chunk.data[9]);
  if (!valid_depth(type, bits)) {
    return wrong(fmt::format("{} bits with colour type {}, which PNG does not have", bits, type));
  }
  return StoredHeader{.format = ImageFormat::kPng,
                      .width = static_cast<int>(width),
                      .height = static_cast<int>(height),
                      .bits = bits,
                      .grey = type == kGrey || type == kGreyAlpha,
                      .alpha = type == kGreyAlpha || type == kRgba,
                      .palette = type == kPalette,
                      .progressive = chunk.data[12] == std::byte{1}};
}

void add_to_header(StoredHeader& header, const Chunk& chunk, bool before_pixels) {
  if (chunk.name == "tRNS" && before_pixels) header.alpha = true;
  if (chunk.name == "acTL" && before_pixels) header.animated = true;
  // A damaged checksum must not turn the image.
  if (chunk.name == "eXIf" && chunk.checksum_holds()) {
    header.orientation = exif_orientation(chunk.data);
  }
}

}  // namespace

Result<StoredHeader> read_png_header(std::span<const std::byte> bytes) {
  auto chunk = chunk_at(bytes, kSignatureBytes);
  if (!chunk) return decode_error(ImageFormat::kPng, "the end of the file", bytes.size());
  auto header = parse_first(*chunk);
  if (!header) return header;
  bool before_pixels = true;
  while (chunk->name != "IEND") {
    const std::size_t next = chunk->end();
    chunk = chunk_at(bytes, next);
    if (!chunk) {
      return decode_error(ImageFormat::kPng,
                          "the end of the file before the last chunk: it is cut short", next);
    }
    if (chunk->name == "IDAT") before_pixels = false;
    add_to_header(*header, *chunk, before_pixels);
  }
  return header;
}

}  // namespace stoker::detail
