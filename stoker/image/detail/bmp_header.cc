#include "stoker/image/detail/bmp_header.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace stoker::detail {
namespace {

constexpr std::size_t kFileHeader = 14;
constexpr std::uint32_t kCoreHeader = 12, kInfoHeader = 40, kAlphaInHeader = 56, kOs2Header = 64;
enum BmpCompression : std::uint32_t { kNone = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3 };

ErrorDetails bmp_error(std::string found, std::size_t offset) {
  return decode_error(ImageFormat::kBmp, std::move(found), offset);
}

// Little-endian numbers; 0 beyond the end, where a check of the size has said so before.
class BmpReader {
 public:
  explicit BmpReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || bytes_.size() - at < count) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;) {
      value = value << 8 | std::to_integer<std::uint32_t>(bytes_[at + i]);
    }
    return value;
  }
  [[nodiscard]] std::uint32_t u16(std::size_t at) const { return number(at, 2); }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const { return number(at, 4); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

// The numbers of all kinds of headers.
struct BmpFields {
  std::uint32_t header_bytes = 0;
  std::int64_t width = 0, height = 0;  // negative: from the top down
  std::uint32_t bits = 0, compression = kNone, colours = 0;

  [[nodiscard]] std::size_t entry_bytes() const { return header_bytes == kCoreHeader ? 3 : 4; }
  // Behind the header lie three masks where it has no place for them.
  [[nodiscard]] std::size_t palette_at() const {
    const bool masks = compression == kBitFields && header_bytes == kInfoHeader;
    return kFileHeader + header_bytes + (masks ? 12U : 0U);
  }
};

BmpFields read_fields(const BmpReader& in) {
  BmpFields fields{.header_bytes = in.u32(kFileHeader)};
  if (fields.header_bytes == kCoreHeader) {
    fields.width = in.u16(18);
    fields.height = in.u16(20);
    fields.bits = in.u16(24);
  } else {
    fields.width = in.u32(18);
    fields.height = static_cast<std::int32_t>(in.u32(22));
    fields.bits = in.u16(28);
    fields.compression = in.u32(30);
    fields.colours = in.u32(46);
  }
  if (fields.colours == 0 && fields.bits <= 8) fields.colours = 1U << fields.bits;
  return fields;
}

bool known_header(std::uint32_t bytes) {
  constexpr std::array<std::uint32_t, 7> kKnown = {12, 40, 52, 56, 64, 108, 124};
  return std::ranges::find(kKnown, bytes) != kKnown.end();
}

std::string bmp_compression(std::uint32_t compression) {
  if (compression == 4) return "a JPEG file inside";
  if (compression == 5) return "a PNG file inside";
  return fmt::format("compression {}", compression);
}

std::optional<std::string> refused(const BmpFields& fields) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (fields.width < 1 || fields.width > kMost || fields.height == 0 || fields.height < -kMost) {
    return fmt::format("a width of {} and a height of {}", fields.width, fields.height);
  }
  const bool palette = fields.bits == 1 || fields.bits == 4 || fields.bits == 8;
  if (!palette && fields.bits != 16 && fields.bits != 24 && fields.bits != 32) {
    return fmt::format("{} bits a pixel", fields.bits);
  }
  // In OS/2's second header, 3 and 4 mean other things.
  if (fields.compression > kBitFields ||
      (fields.compression == kBitFields && (palette || fields.header_bytes == kOs2Header))) {
    return bmp_compression(fields.compression);
  }
  if ((fields.compression == kRle8 && fields.bits != 8) ||
      (fields.compression == kRle4 && fields.bits != 4)) {
    return fmt::format("run lengths of {} bits with {} bits a pixel",
                       fields.compression == kRle8 ? 8 : 4, fields.bits);
  }
  if (palette && fields.colours > 65536) {
    return fmt::format("a palette of {} colours", fields.colours);
  }
  return std::nullopt;
}

// False where the mask's bits do not lie side by side.
bool set_channel(BmpChannel& channel, std::uint32_t mask) {
  channel.mask = mask;
  if (mask == 0) return true;
  channel.shift = static_cast<unsigned>(std::countr_zero(mask));
  channel.most = mask >> channel.shift;
  return (channel.most & (channel.most + 1)) == 0;
}

std::array<std::uint32_t, 4> read_masks(const BmpReader& in, const BmpFields& fields) {
  constexpr std::array<std::uint32_t, 4> k15 = {0x7C00, 0x3E0, 0x1F, 0};
  constexpr std::array<std::uint32_t, 4> k24 = {0xFF0000, 0xFF00, 0xFF, 0};
  if (fields.compression != kBitFields) return fields.bits == 16 ? k15 : k24;
  // At the same place, in the header or behind it.
  constexpr std::size_t kMasksAt = kFileHeader + kInfoHeader;
  const bool alpha = fields.header_bytes >= kAlphaInHeader;
  std::array<std::uint32_t, 4> masks = {in.u32(kMasksAt), in.u32(kMasksAt + 4),
                                        in.u32(kMasksAt + 8), alpha ? in.u32(kMasksAt + 12) : 0};
  // Pillow's reading of files that leave them out.
  if (fields.bits == 32 && masks == std::array<std::uint32_t, 4>{}) {
    masks = {0xFF0000, 0xFF00, 0xFF, 0xFF000000};
  }
  return masks;
}

bool set_channels(BmpLayout& layout, const BmpReader& in, const BmpFields& fields) {
  const auto masks = read_masks(in, fields);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (!set_channel(layout.channels[i], masks[i])) return false;
  }
  layout.header.alpha = masks[3] != 0;
  // A pixel without any colour is a damaged header, not an image.
  return masks[0] != 0 && masks[1] != 0 && masks[2] != 0;
}

// Places beyond the palette are black, as in Pillow.
void read_bmp_palette(BmpLayout& layout, const BmpReader& in, const BmpFields& fields) {
  const std::size_t there = in.size() > fields.palette_at() ? in.size() - fields.palette_at() : 0;
  const std::size_t count =
      std::min<std::size_t>({fields.colours, layout.palette.size(), there / fields.entry_bytes()});
  bool grey = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bgr = in.number(fields.palette_at() + i * fields.entry_bytes(), 3);
    Colour& colour = layout.palette[i];
    colour = {static_cast<std::uint8_t>(bgr >> 16), static_cast<std::uint8_t>(bgr >> 8),
              static_cast<std::uint8_t>(bgr)};
    grey = grey && colour.red == colour.green && colour.green == colour.blue;
  }
  layout.header.grey = grey;
  layout.header.palette = !grey;
}

// Where the pixels begin. Some writers count no palette, some write no place.
std::size_t pixels_at(const BmpReader& in, const BmpFields& fields) {
  const std::size_t named = in.u32(10), colours = fields.bits <= 8 ? fields.colours : 0;
  const std::size_t palette_bytes = colours * fields.entry_bytes();
  if (named == 0) return fields.palette_at() + palette_bytes;
  return named == kFileHeader + fields.header_bytes ? named + palette_bytes : named;
}

BmpPacking packing_of(const BmpFields& fields) {
  if (fields.compression == kRle8) return BmpPacking::kRle8;
  return fields.compression == kRle4 ? BmpPacking::kRle4 : BmpPacking::kRaw;
}

}  // namespace

Result<BmpLayout> read_bmp_layout(std::span<const std::byte> bytes) {
  const BmpReader in(bytes);
  const BmpFields fields = read_fields(in);
  if (!known_header(fields.header_bytes)) {
    return bmp_error(fmt::format("a header of {} bytes", fields.header_bytes), kFileHeader);
  }
  if (bytes.size() < fields.palette_at()) {
    return bmp_error("the end of the file inside the header: it is cut short", bytes.size());
  }
  if (auto found = refused(fields)) return bmp_error(*std::move(found), kFileHeader);
  BmpLayout layout{.header = {.format = ImageFormat::kBmp,
                              .width = static_cast<int>(fields.width),
                              .height = static_cast<int>(std::abs(fields.height)),
                              .bits = static_cast<int>(std::min(fields.bits, 8U))},
                   .top_down = fields.height < 0,
                   .bits = static_cast<int>(fields.bits),
                   .packing = packing_of(fields),
                   .pixels_at = pixels_at(in, fields)};
  if (fields.bits <= 8) {
    read_bmp_palette(layout, in, fields);
  } else if (!set_channels(layout, in, fields)) {
    return bmp_error("bit fields with gaps, or without a colour", kFileHeader + kInfoHeader);
  }
  const std::size_t there = bytes.size() - std::min(bytes.size(), layout.pixels_at);
  const auto full_rows = static_cast<std::size_t>(layout.header.height) - 1;
  const bool cut = there < layout.used_row_bytes() ||
                   (there - layout.used_row_bytes()) / layout.row_bytes() < full_rows;
  if (layout.packing == BmpPacking::kRaw && cut) {
    return bmp_error("the end of the file inside the image: it is cut short", bytes.size());
  }
  return layout;
}

}  // namespace stoker::detail
