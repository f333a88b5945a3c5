#include "stoker/image/detail/tiff_decoder.h"

#include <algorithm>
#include <cstring>

#include <tiffio.h>

#include "stoker/image/detail/packed_values.h"

namespace stoker::detail {
namespace {

RowFormat format_of(const TiffLayout& layout) {
  if (layout.colours == TiffColours::kCmyk) return RowFormat::kCmyk;
  if (layout.alpha != TiffAlpha::kNone) return RowFormat::kRgba;
  return layout.colours == TiffColours::kGrey ? RowFormat::kGrey : RowFormat::kRgb;
}

template <class Value>
void invert(Value* values, std::size_t count, std::size_t step = 1) {
  for (std::size_t i = 0; i < count; ++i) values[i * step] = static_cast<Value>(~values[i * step]);
}

template <class Value>
void repeat_grey_with_alpha(Value* out, const Value* in, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x) {
    out[4 * x] = out[4 * x + 1] = out[4 * x + 2] = in[2 * x];
    out[4 * x + 3] = in[2 * x + 1];
  }
}

// Colours before they were multiplied by alpha, with Pillow's integers.
template <class Value>
void divide_by_alpha(Value* rgba, std::size_t width) {
  constexpr std::uint32_t kMost = static_cast<Value>(~Value{0});
  for (std::size_t x = 0; x < width; ++x, rgba += 4) {
    const std::uint32_t alpha = rgba[3];
    if (alpha == 0 || alpha == kMost) continue;
    for (int c = 0; c < 3; ++c) {
      rgba[c] = static_cast<Value>(std::min(kMost, rgba[c] * kMost / alpha));
    }
  }
}

// Whether the file ends before the strip or tile does.
bool ends_before(const TiffFile& file, std::uint32_t segment) {
  const std::uint64_t size = file.bytes().size();
  const std::uint64_t from = TIFFGetStrileOffset(file.handle(), segment);
  return from > size || TIFFGetStrileByteCount(file.handle(), segment) > size - from;
}

Region intersection(const Region& a, const Region& b) {
  const int left = std::max(a.left, b.left), top = std::max(a.top, b.top);
  return {.left = left,
          .top = top,
          .width = std::min(a.left + a.width, b.left + b.width) - left,
          .height = std::min(a.top + a.height, b.top + b.height) - top};
}

}  // namespace

Result<StoredHeader> TiffDecoder::open(std::span<const std::byte> bytes, int page) {
  if (!file_.open(bytes)) return decode_error(ImageFormat::kTiff, file_.first_error(), 0);
  auto layout = read_tiff_layout(file_, page);
  if (!layout) return layout.error();
  layout_ = *layout;
  format_ = format_of(layout_);
  return layout_.header;
}

// Decodes the segment from its first row to the last that the region needs. libtiff's errors count
// even where it goes on; its warnings while it reads JPEG are damage that would become grey.
Result<const std::uint8_t*> TiffDecoder::load(const Part& part) {
  const int planes = layout_.planes ? layout_.used : 1;
  const auto rows = static_cast<std::size_t>(part.inside.top + part.inside.height - part.top);
  const std::size_t wanted = layout_.tiled ? layout_.segment_bytes : rows * layout_.row_bytes;
  std::uint8_t* first = segments_.reserve(layout_.segment_bytes * static_cast<std::size_t>(planes));
  const auto left = static_cast<std::uint32_t>(part.left);
  const auto top = static_cast<std::uint32_t>(part.top);
  const auto size = static_cast<tmsize_t>(wanted);
  for (int plane = 0; plane < planes; ++plane) {
    std::uint8_t* out = first + static_cast<std::size_t>(plane) * layout_.segment_bytes;
    // Whatever a decoder leaves unwritten in a damaged file, it is not the image before.
    if (layout_.packed) std::memset(out, 0, wanted);
    const auto sample = static_cast<std::uint16_t>(plane);
    const std::uint32_t segment = layout_.tiled
                                      ? TIFFComputeTile(file_.handle(), left, top, 0, sample)
                                      : TIFFComputeStrip(file_.handle(), top, sample);
    const tmsize_t got = layout_.tiled ? TIFFReadEncodedTile(file_.handle(), segment, out, size)
                                       : TIFFReadEncodedStrip(file_.handle(), segment, out, size);
    const bool damaged = file_.errors() > 0 || (layout_.jpeg && file_.warnings() > 0);
    if (got == size && !damaged) continue;
    return ends_before(file_, segment)
               ? decode_error(ImageFormat::kTiff,
                              "the end of the file inside the image: it is cut short",
                              file_.bytes().size())
               : decode_error(ImageFormat::kTiff, file_.first_error(),
                              TIFFCurrentDirOffset(file_.handle()));
  }
  return first;
}

const std::uint8_t* TiffDecoder::palette_row(const std::uint8_t* segment_row, std::size_t left,
                                             std::size_t width) {
  std::uint8_t* row = row_.reserve(width * 3);
  const PackedValues in{.row = segment_row, .bits = layout_.header.bits, .first = left};
  for (std::size_t x = 0; x < width; ++x) {
    const Colour& colour = layout_.palette[small_value(in, x)];
    row[3 * x] = colour.red;
    row[3 * x + 1] = colour.green;
    row[3 * x + 2] = colour.blue;
  }
  return row;
}

template <class Value>
const Value* TiffDecoder::row_of(const std::uint8_t* segment_row, std::size_t left,
                                 std::size_t width) {
  const auto used = static_cast<std::size_t>(layout_.used);
  const auto samples = static_cast<std::size_t>(layout_.planes ? 1 : layout_.samples);
  const bool as_stored = layout_.header.bits == 8 * sizeof(Value) && samples == used &&
                         !layout_.planes && !layout_.white_is_zero && !layout_.header.alpha &&
                         !layout_.header.cmyk;
  if (as_stored) return reinterpret_cast<const Value*>(segment_row) + left * used;
  auto* row = reinterpret_cast<Value*>(row_.reserve(width * 4 * sizeof(Value)));
  const bool grey_alpha = layout_.colours == TiffColours::kGrey && layout_.header.alpha;
  auto* values =
      grey_alpha ? reinterpret_cast<Value*>(values_.reserve(width * 2 * sizeof(Value))) : row;
  for (std::size_t c = 0; c < used; ++c) {
    const std::uint8_t* from =
        layout_.planes ? segment_row + c * layout_.segment_bytes : segment_row;
    const std::size_t first = left * samples + (layout_.planes ? 0 : c);
    unpack_values(values + c, used,
                  {.row = from, .bits = layout_.header.bits, .first = first, .step = samples},
                  width);
  }
  if (layout_.header.cmyk) invert(values, width * used);
  if (layout_.white_is_zero) invert(values, width, used);
  if (grey_alpha) repeat_grey_with_alpha(row, values, width);
  if (layout_.alpha == TiffAlpha::kPremultiplied) divide_by_alpha(row, width);
  return row;
}

template <class Value>
void TiffDecoder::convert(const MutableImageView& out, const StoredRequest& request,
                          const Part& part, const std::uint8_t* segment) {
  const Region& inside = part.inside;
  const auto width = static_cast<std::size_t>(inside.width);
  const auto left = static_cast<std::size_t>(inside.left - part.left);
  for (int y = inside.top; y < inside.top + inside.height; ++y) {
    const std::uint8_t* from = segment + static_cast<std::size_t>(y - part.top) * layout_.row_bytes;
    const Value* row = nullptr;
    if constexpr (sizeof(Value) == 1) {
      row = layout_.header.palette ? palette_row(from, left, width)
                                   : row_of<Value>(from, left, width);
    } else {
      row = row_of<Value>(from, left, width);
    }
    Value* to = out.values<Value>(y - request.region.top) +
                static_cast<std::ptrdiff_t>(inside.left - request.region.left) * request.channels;
    convert_row(to, row, width, format_, request.channels, request.background);
  }
}

Result<StoredPixels> TiffDecoder::decode(const StoredRequest& request, PixelBuffer& memory) {
  const Region& region = request.region;
  const ImageShape shape = request.shape();
  const MutableImageView out{memory.reserve(shape.bytes()), shape, shape.bytes_per_row()};
  file_.clear_messages();
  const int width = layout_.segment_width, height = layout_.segment_height;
  for (int top = region.top / height * height; top < region.top + region.height; top += height) {
    for (int left = region.left / width * width; left < region.left + region.width; left += width) {
      const Part part{
          .left = left, .top = top, .inside = intersection(region, {left, top, width, height})};
      auto segment = load(part);
      if (!segment) return segment.error();
      if (request.depth == 16) {
        convert<std::uint16_t>(out, request, part, *segment);
      } else {
        convert<std::uint8_t>(out, request, part, *segment);
      }
    }
  }
  const int tolerated = file_.warnings();
  file_.close();
  return StoredPixels{.pixels = out, .tolerated = tolerated};
}

}  // namespace stoker::detail
