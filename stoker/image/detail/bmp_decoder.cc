#include "stoker/image/detail/bmp_decoder.h"

#include <algorithm>
#include <cstring>

#include "stoker/image/detail/packed_values.h"
#include "stoker/image/detail/rows.h"

namespace stoker::detail {
namespace {

// Run lengths into one byte a pixel, with Pillow's reading of what the format leaves open: runs end
// at the end of a row, single values continue in the next, omitted pixels are the palette's first.
class BmpRuns {
 public:
  BmpRuns(std::span<const std::byte> bytes, std::size_t at, bool four_bits)
      : bytes_(bytes), at_(at), four_bits_(four_bits) {}

  // False where there are fewer pixels than `count`.
  [[nodiscard]] bool unpack(std::uint8_t* out, std::size_t count, std::size_t width) {
    out_ = out;
    count_ = count;
    width_ = width;
    done_ = column_ = 0;
    while (done_ < count_) {
      int run = 0, value = 0;
      if (!take(run) || !take(value)) return false;
      if (run > 0) {
        repeat(static_cast<std::size_t>(run), value);
      } else if (!escape(value)) {
        break;
      }
    }
    return done_ == count_;
  }

 private:
  [[nodiscard]] bool take(int& value) {
    if (at_ >= bytes_.size()) return false;
    value = std::to_integer<int>(bytes_[at_++]);
    return true;
  }
  [[nodiscard]] int half(int value, bool second) const {
    return !four_bits_ ? value : second ? value & 15 : value >> 4;
  }
  void put(int value) { out_[done_++] = static_cast<std::uint8_t>(value); }
  void skip(std::size_t pixels) {
    pixels = std::min(pixels, count_ - done_);
    std::memset(out_ + done_, 0, pixels);
    done_ += pixels;
  }
  void repeat(std::size_t run, int value) {
    run = std::min({run, width_ - std::min(width_, column_), count_ - done_});
    for (std::size_t i = 0; i < run; ++i) put(half(value, i % 2 == 1));
    column_ += run;
  }
  // False at the end of the image, and of the file.
  [[nodiscard]] bool escape(int code) {
    if (code == 0) {
      skip((width_ - done_ % width_) % width_);
      column_ = 0;
      return true;
    }
    if (code == 1) return false;
    if (code == 2) return jump();
    return copy(static_cast<std::size_t>(code));
  }
  [[nodiscard]] bool jump() {
    int right = 0, up = 0;
    if (!take(right) || !take(up)) return false;
    skip(static_cast<std::size_t>(right) + static_cast<std::size_t>(up) * width_);
    column_ = done_ % width_;
    return true;
  }
  // Values one by one; the next code begins at an even place of the file.
  [[nodiscard]] bool copy(std::size_t run) {
    const std::size_t wanted = std::min(run, count_ - done_);
    int value = 0;
    for (std::size_t i = 0; i < wanted; ++i) {
      const bool second = four_bits_ && i % 2 == 1;
      if (!second && !take(value)) return false;
      put(half(value, second));
    }
    column_ += run;
    at_ += at_ % 2;
    return true;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_;
  bool four_bits_;
  std::uint8_t* out_ = nullptr;
  std::size_t count_ = 0, width_ = 0, done_ = 0, column_ = 0;
};

std::uint8_t channel_value(std::uint32_t pixel, const BmpChannel& channel) {
  const std::uint32_t value = (pixel & channel.mask) >> channel.shift;
  if (channel.most == 255) return static_cast<std::uint8_t>(value);
  return static_cast<std::uint8_t>(std::uint64_t{value} * 255 / channel.most);
}

// Pixels of two to four bytes, as RGB or RGBA.
void read_colours(std::uint8_t* out, const std::uint8_t* in, std::size_t width,
                  const BmpLayout& layout) {
  const auto bytes = static_cast<std::size_t>(layout.bits) / 8;
  const std::size_t channels = layout.header.alpha ? 4 : 3;
  for (std::size_t x = 0; x < width; ++x, in += bytes, out += channels) {
    std::uint32_t pixel = 0;
    for (std::size_t i = bytes; i-- > 0;) pixel = pixel << 8 | in[i];
    for (std::size_t c = 0; c < channels; ++c) out[c] = channel_value(pixel, layout.channels[c]);
  }
}

// Places in the palette, as grey or RGB.
void read_places(std::uint8_t* out, const PackedValues& in, std::size_t width,
                 const BmpLayout& layout) {
  for (std::size_t x = 0; x < width; ++x) {
    const Colour& colour = layout.palette[small_value(in, x)];
    if (layout.header.grey) {
      out[x] = colour.red;
    } else {
      out[3 * x] = colour.red;
      out[3 * x + 1] = colour.green;
      out[3 * x + 2] = colour.blue;
    }
  }
}

}  // namespace

Result<StoredHeader> BmpDecoder::open(std::span<const std::byte> bytes) {
  auto layout = read_bmp_layout(bytes);
  if (!layout) return layout.error();
  bytes_ = bytes;
  layout_ = *layout;
  return layout_.header;
}

const std::uint8_t* BmpDecoder::unpack_runs() {
  const auto width = static_cast<std::size_t>(layout_.header.width);
  const std::size_t count = width * static_cast<std::size_t>(layout_.header.height);
  std::uint8_t* out = indices_.reserve(count);
  BmpRuns runs(bytes_, layout_.pixels_at, layout_.packing == BmpPacking::kRle4);
  return runs.unpack(out, count, width) ? out : nullptr;
}

Result<StoredPixels> BmpDecoder::decode(const StoredRequest& request, PixelBuffer& memory) {
  const StoredHeader& header = layout_.header;
  const bool runs = layout_.packing != BmpPacking::kRaw;
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes_.data()) + layout_.pixels_at;
  std::size_t row_bytes = layout_.row_bytes();
  if (runs) {
    first = unpack_runs();
    row_bytes = static_cast<std::size_t>(header.width);
    if (first == nullptr) {
      return decode_error(ImageFormat::kBmp, "run lengths of too few pixels: it is cut short",
                          bytes_.size());
    }
  }
  const Region& region = request.region;
  const ImageShape shape{region.height, region.width, request.channels};
  const MutableImageView out{memory.reserve(shape.bytes()), shape, shape.bytes_per_row()};
  const RowFormat format = header.grey    ? RowFormat::kGrey
                           : header.alpha ? RowFormat::kRgba
                                          : RowFormat::kRgb;
  const auto width = static_cast<std::size_t>(region.width);
  const auto left = static_cast<std::size_t>(region.left);
  std::uint8_t* row = row_.reserve(width * 4);
  for (int y = 0; y < region.height; ++y) {
    const int upright = region.top + y;
    const int stored = layout_.top_down ? upright : header.height - 1 - upright;
    const std::uint8_t* in = first + static_cast<std::size_t>(stored) * row_bytes;
    if (layout_.bits <= 8) {
      read_places(row, {.row = in, .bits = runs ? 8 : layout_.bits, .first = left}, width, layout_);
    } else {
      read_colours(row, in + left * static_cast<std::size_t>(layout_.bits) / 8, width, layout_);
    }
    convert_row(out.row(y), row, width, format, request.channels, request.background);
  }
  return StoredPixels{.pixels = out};
}

}  // namespace stoker::detail
