#include "stoker/image/detail/webp_decoder.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "stoker/image/detail/exif.h"
#include "stoker/image/detail/rows.h"

namespace stoker::detail {
namespace {

constexpr std::size_t kFileHeaderBytes = 12, kChunkHeaderBytes = 8;
constexpr int kChromaMargin = 2;  // smooth chroma reads one neighbour on each side: two pixels

std::size_t little_endian(const std::byte* at) {
  std::size_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | std::to_integer<std::size_t>(at[i]);
  return value;
}

const std::uint8_t* octets(std::span<const std::byte> bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

ErrorDetails webp_error(std::string found, std::size_t offset) {
  return decode_error(ImageFormat::kWebp, std::move(found), offset);
}

std::string_view reason(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "no memory for it";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "a feature that libwebp does not support";
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "the end of the file inside the image";
    default:
      return "damaged data";
  }
}

// Chunks have even sizes; what does not fit into the file ends the walk.
int orientation_of(std::span<const std::byte> bytes) {
  for (std::size_t at = kFileHeaderBytes; bytes.size() - at >= kChunkHeaderBytes;) {
    const std::size_t size = little_endian(bytes.data() + at + 4);
    const std::size_t left = bytes.size() - at - kChunkHeaderBytes;
    if (size > left) return 1;
    if (std::memcmp(bytes.data() + at, "EXIF", 4) == 0) {
      return exif_orientation(bytes.subspan(at + kChunkHeaderBytes, size));
    }
    at += kChunkHeaderBytes + std::min(left, size + (size & 1));
  }
  return 1;
}

// The region with the margin that makes its pixels those of a whole decode, from an even corner,
// where a value of chroma begins. With transparency from the top row on: libwebp 1.2.4 gives wrong
// alpha to an image with loss whose upper rows are omitted.
Region with_margin(const Region& region, const StoredHeader& header) {
  const int left = std::max(0, region.left - kChromaMargin) & ~1;
  const int top = header.alpha ? 0 : std::max(0, region.top - kChromaMargin) & ~1;
  return {.left = left,
          .top = top,
          .width = std::min(header.width, region.left + region.width + kChromaMargin) - left,
          .height = std::min(header.height, region.top + region.height + kChromaMargin) - top};
}

void convert(const MutableImageView& out, const std::uint8_t* first, std::size_t bytes_per_row,
             RowFormat format, const Colour& background) {
  for (int y = 0; y < out.shape.height; ++y) {
    convert_row(out.row(y), first + static_cast<std::size_t>(y) * bytes_per_row,
                static_cast<std::size_t>(out.shape.width), format, out.shape.channels, background);
  }
}

MutableImageView gapless(PixelBuffer& memory, const StoredRequest& request) {
  const ImageShape shape{request.region.height, request.region.width, request.channels};
  return {memory.reserve(shape.bytes()), shape, shape.bytes_per_row()};
}

VP8StatusCode decode_window(std::span<const std::byte> bytes, const Region& window, bool alpha,
                            std::uint8_t* out, std::size_t bytes_per_row) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) return VP8_STATUS_INVALID_PARAM;
  config.options.use_cropping = 1;
  config.options.crop_left = window.left;
  config.options.crop_top = window.top;
  config.options.crop_width = window.width;
  config.options.crop_height = window.height;
  config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {.rgba = out,
                          .stride = static_cast<int>(bytes_per_row),
                          .size = bytes_per_row * static_cast<std::size_t>(window.height)};
  return WebPDecode(octets(bytes), bytes.size(), &config);
}

struct DeleteAnimation {
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

}  // namespace

Result<StoredHeader> WebpDecoder::open(std::span<const std::byte> bytes) {
  const std::size_t size = little_endian(bytes.data() + 4);
  if (size > bytes.size() - 8) {
    return webp_error(fmt::format("{} bytes of the {} that its header names: it is cut short",
                                  bytes.size(), size + 8),
                      bytes.size());
  }
  bytes_ = bytes;
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(octets(bytes), bytes.size(), &features);
  if (status != VP8_STATUS_OK) return webp_error(std::string(reason(status)), kFileHeaderBytes);
  header_ = {.format = ImageFormat::kWebp,
             .width = features.width,
             .height = features.height,
             .orientation = orientation_of(bytes),
             .alpha = features.has_alpha != 0,
             .animated = features.has_animation != 0};
  return header_;
}

Result<StoredPixels> WebpDecoder::decode(const StoredRequest& request, PixelBuffer& memory) {
  return header_.animated ? decode_animated(request, memory) : decode_still(request, memory);
}

Result<StoredPixels> WebpDecoder::decode_still(const StoredRequest& request, PixelBuffer& memory) {
  const Region window = with_margin(request.region, header_);
  const RowFormat format = header_.alpha ? RowFormat::kRgba : RowFormat::kRgb;
  const bool straight = is_final(format, request.channels);
  const auto pixel = static_cast<std::size_t>(channels_of(format));
  const std::size_t bytes_per_row = static_cast<std::size_t>(window.width) * pixel;
  std::uint8_t* first =
      (straight ? memory : work_).reserve(bytes_per_row * static_cast<std::size_t>(window.height));
  const VP8StatusCode status = decode_window(bytes_, window, header_.alpha, first, bytes_per_row);
  if (status != VP8_STATUS_OK) return webp_error(std::string(reason(status)), kFileHeaderBytes);

  first += static_cast<std::size_t>(request.region.top - window.top) * bytes_per_row +
           static_cast<std::size_t>(request.region.left - window.left) * pixel;
  if (straight) {
    const ImageShape shape{request.region.height, request.region.width, request.channels};
    return StoredPixels{.pixels = {first, shape, bytes_per_row}};
  }
  const MutableImageView out = gapless(memory, request);
  convert(out, first, bytes_per_row, format, request.background);
  return StoredPixels{.pixels = out};
}

Result<StoredPixels> WebpDecoder::decode_animated(const StoredRequest& request,
                                                  PixelBuffer& memory) {
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) return webp_error("another libwebp", 0);
  options.color_mode = MODE_RGBA;
  const WebPData data{octets(bytes_), bytes_.size()};
  const std::unique_ptr<WebPAnimDecoder, DeleteAnimation> decoder(
      WebPAnimDecoderNew(&data, &options));
  std::uint8_t* canvas = nullptr;
  int milliseconds = 0;
  if (decoder == nullptr || WebPAnimDecoderGetNext(decoder.get(), &canvas, &milliseconds) == 0) {
    return webp_error("an animation whose first image is damaged", kFileHeaderBytes);
  }
  const MutableImageView out = gapless(memory, request);
  const std::size_t bytes_per_row = static_cast<std::size_t>(header_.width) * 4;
  const Region& region = request.region;
  convert(out,
          canvas + static_cast<std::size_t>(region.top) * bytes_per_row +
              static_cast<std::size_t>(region.left) * 4,
          bytes_per_row, RowFormat::kRgba, request.background);
  return StoredPixels{.pixels = out};
}

}  // namespace stoker::detail
