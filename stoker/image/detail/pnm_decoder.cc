#include "stoker/image/detail/pnm_decoder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "stoker/image/detail/packed_values.h"
#include "stoker/image/detail/rows.h"

namespace stoker::detail {
namespace {

ErrorDetails pnm_error(std::string found, std::size_t offset) {
  return decode_error(ImageFormat::kPnm, std::move(found), offset);
}

ErrorDetails pnm_cut(std::size_t offset) {
  return pnm_error("the end of the file inside the image: it is cut short", offset);
}

constexpr bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(int c) { return c >= '0' && c <= '9'; }

// Numbers and bits of the header and of plain images. A comment, from # to the end of its line,
// counts as that end.
class PnmText {
 public:
  PnmText(std::span<const std::byte> bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  // The next number, and the one character behind it; none where there is something else. Of
  // more than nine digits none: no number of this format has them.
  [[nodiscard]] std::optional<int> number() {
    const int first = after_spaces();
    if (!is_digit(first)) return std::nullopt;
    int value = first - '0';
    int digits = 1;
    int c = take();
    for (; is_digit(c); c = take()) {
      if (++digits > 9) return std::nullopt;
      value = 10 * value + (c - '0');
    }
    if (c != kEnd && !is_space(c)) return std::nullopt;
    return value;
  }
  // The next of the digits 0 and 1, which need no spaces between them.
  [[nodiscard]] std::optional<int> bit() {
    const int c = after_spaces();
    if (c != '0' && c != '1') return std::nullopt;
    return c - '0';
  }
  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }

 private:
  static constexpr int kEnd = -1;

  [[nodiscard]] int take() {
    if (at_end()) return kEnd;
    int c = std::to_integer<int>(bytes_[at_++]);
    if (c == '#') {
      while (c != '\n' && c != '\r') {
        if (at_end()) return kEnd;
        c = std::to_integer<int>(bytes_[at_++]);
      }
    }
    return c;
  }
  [[nodiscard]] int after_spaces() {
    int c = take();
    while (is_space(c)) c = take();
    return c;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_;
};

// Python's round(value / max_value * most), which Pillow computes: to the nearest, from the middle
// to the even one. Raw files may hold values above their largest, which count as the largest.
int scaled(int value, int max_value, int most) {
  if (max_value == most) return value;
  const double exact = static_cast<double>(value) / max_value * most;
  return std::min(most, static_cast<int>(std::nearbyint(exact)));
}

// As 8 bits; as 16 where the file has more than 8.
template <class Value>
Value value_of(int value, int max_value) {
  if (max_value < 256) return static_cast<Value>(scaled(value, max_value, 255));
  constexpr int kShift = sizeof(Value) == 1 ? 8 : 0;
  return static_cast<Value>(scaled(value, max_value, 65535) >> kShift);
}

std::size_t raw_row_bytes(const StoredHeader& header) {
  const auto values = static_cast<std::size_t>(header.width) * (header.grey ? 1U : 3U);
  return header.bits == 1 ? (values + 7) / 8 : header.bits == 8 ? values : 2 * values;
}

// `count` values of a raw row, from place `first` on.
template <class Value>
void read_raw_values(Value* out, const std::uint8_t* row, std::size_t first, std::size_t count,
                     int max_value) {
  if (max_value == 0) {
    unpack_values(out, 1, {.row = row, .bits = 1, .first = first}, count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Value>(255 - out[i]);
    return;
  }
  const bool wide = max_value > 255;
  for (std::size_t i = first; i < first + count; ++i) {
    const int value = wide ? row[2 * i] << 8 | row[2 * i + 1] : row[i];
    out[i - first] = value_of<Value>(value, max_value);
  }
}

// The next `count` values of a plain image; false where they are not there.
template <class Value>
bool read_plain_values(Value* out, PnmText& text, std::size_t count, int max_value) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = max_value == 0 ? text.bit() : text.number();
    if (!value || *value > std::max(1, max_value)) return false;
    out[i] = max_value == 0 ? static_cast<Value>(*value == 0 ? 255 : 0)
                            : value_of<Value>(*value, max_value);
  }
  return true;
}

}  // namespace

Result<StoredHeader> PnmDecoder::open(std::span<const std::byte> bytes) {
  bytes_ = bytes;
  const int kind = std::to_integer<int>(bytes[1]) - '0';  // 1 to 6: sniff_format has seen it
  plain_ = kind <= 3;
  const bool bits = kind % 3 == 1;
  PnmText text(bytes, 2);
  const auto width = text.number(), height = text.number();
  const auto most = bits ? std::optional(0) : text.number();
  if (!width || !height || !most) return pnm_error("a header without its numbers", text.at());
  if (*width == 0 || *height == 0) {
    return pnm_error(fmt::format("a width of {} and a height of {}", *width, *height), text.at());
  }
  if (!bits && (*most < 1 || *most > 65535)) {
    return pnm_error(fmt::format("{} as the largest value, not 1 to 65535", *most), text.at());
  }
  max_value_ = *most;
  pixels_at_ = text.at();
  header_ = {.format = ImageFormat::kPnm,
             .width = *width,
             .height = *height,
             .bits = bits               ? 1
                     : max_value_ < 256 ? 8
                                        : 16,
             .grey = kind % 3 != 0};
  // A plain value takes at least a byte.
  const std::size_t row_bytes = raw_row_bytes(header_);
  const std::size_t least = plain_ ? static_cast<std::size_t>(*width) : row_bytes;
  if ((bytes.size() - pixels_at_) / static_cast<std::size_t>(*height) < least) {
    return pnm_cut(bytes.size());
  }
  return header_;
}

Result<StoredPixels> PnmDecoder::decode(const StoredRequest& request, PixelBuffer& memory) {
  return request.depth == 16 ? decode_as<std::uint16_t>(request, memory)
                             : decode_as<std::uint8_t>(request, memory);
}

template <class Value>
Result<StoredPixels> PnmDecoder::decode_as(const StoredRequest& request, PixelBuffer& memory) {
  const ImageShape shape = request.shape();
  const MutableImageView out{memory.reserve(shape.bytes()), shape, shape.bytes_per_row()};
  const RowFormat format = header_.grey ? RowFormat::kGrey : RowFormat::kRgb;
  const auto pixel = static_cast<std::size_t>(channels_of(format));
  const std::size_t first = static_cast<std::size_t>(request.region.left) * pixel;
  const std::size_t count = static_cast<std::size_t>(request.region.width) * pixel;
  const std::size_t row_values = static_cast<std::size_t>(header_.width) * pixel;
  const auto* raw = reinterpret_cast<const std::uint8_t*>(bytes_.data()) + pixels_at_;
  const std::size_t row_bytes = raw_row_bytes(header_);
  auto* row = reinterpret_cast<Value*>(row_.reserve(row_values * sizeof(Value)));
  PnmText text(bytes_, pixels_at_);
  const int end = request.region.top + request.region.height;
  for (int y = plain_ ? 0 : request.region.top; y < end; ++y) {
    const std::uint8_t* raw_row = raw + static_cast<std::size_t>(y) * row_bytes;
    const Value* values = row;
    if (plain_) {
      if (!read_plain_values(row, text, row_values, max_value_)) {
        return text.at_end() ? pnm_cut(bytes_.size())
                             : pnm_error("text that is no value of this image", text.at());
      }
      values = row + first;
    } else if (sizeof(Value) == 1 && max_value_ == 255) {
      values = reinterpret_cast<const Value*>(raw_row) + first;
    } else {
      read_raw_values(row, raw_row, first, count, max_value_);
    }
    if (y < request.region.top) continue;
    convert_row(out.values<Value>(y - request.region.top), values,
                static_cast<std::size_t>(shape.width), format, request.channels,
                request.background);
  }
  return StoredPixels{.pixels = out};
}

}  // namespace stoker::detail
