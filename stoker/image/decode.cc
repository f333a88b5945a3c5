#include "stoker/image/decode.h"

#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/invariant.h"
#include "stoker/image/detail/bmp_decoder.h"
#include "stoker/image/detail/codec.h"
#include "stoker/image/detail/jpeg_decoder.h"
#include "stoker/image/detail/orientation.h"
#include "stoker/image/detail/png_decoder.h"
#include "stoker/image/detail/pnm_decoder.h"
#include "stoker/image/detail/tiff_decoder.h"
#include "stoker/image/detail/webp_decoder.h"
#include "stoker/image/detail/wide_values.h"
#include "stoker/image/other_formats.h"

namespace stoker {
namespace {

using detail::StoredHeader;
using detail::StoredPixels;
using detail::StoredRequest;

bool starts_with(std::span<const std::byte> bytes, std::string_view text, std::size_t at = 0) {
  return bytes.size() >= at + text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

// Two letters begin many a text; the length of the second header is below 256.
bool is_bmp(std::span<const std::byte> bytes) {
  constexpr std::byte kZero{0};
  return bytes.size() >= 18 && starts_with(bytes, "BM") && bytes[14] != kZero &&
         bytes[15] == kZero && bytes[16] == kZero && bytes[17] == kZero;
}

// P1 to P6, spaces, and a number or a comment.
bool is_pnm(std::span<const std::byte> bytes) {
  const auto at = [bytes](std::size_t i) { return std::to_integer<char>(bytes[i]); };
  if (bytes.size() < 4 || at(0) != 'P' || at(1) < '1' || at(1) > '6') return false;
  if (at(2) == '#') return true;
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  std::size_t i = 2;
  while (i < bytes.size() && is_space(at(i))) ++i;
  return i > 2 && i < bytes.size() && ((at(i) >= '0' && at(i) <= '9') || at(i) == '#');
}

bool is_tiff(std::span<const std::byte> bytes) {
  using namespace std::string_view_literals;
  return starts_with(bytes, "II*\0"sv) || starts_with(bytes, "MM\0*"sv) ||
         starts_with(bytes, "II+\0"sv) || starts_with(bytes, "MM\0+"sv);  // +: BigTIFF
}

ErrorDetails not_decoded(std::span<const std::byte> bytes) {
  ErrorDetails error{.what = "cannot decode the file as an image",
                     .offset = 0,
                     .expected = fmt::format("a {} file", kReadableFormats),
                     .found = bytes.empty() ? "an empty file" : "other first bytes"};
  if (const OtherFormat* other = sniff_other_format(bytes)) {
    error.found = other->name;
    error.hint = conversion_hint(*other);
  }
  return error;
}

std::optional<ErrorDetails> beyond_limits(const StoredHeader& header, const DecodeLimits& limits) {
  const std::int64_t pixels = std::int64_t{header.width} * header.height;
  if (header.width <= limits.max_side && header.height <= limits.max_side &&
      pixels <= limits.max_pixels) {
    return std::nullopt;
  }
  return ErrorDetails{
      .what = fmt::format("the {} image is larger than the limit", format_name(header.format)),
      .expected = fmt::format("sides of at most {} and at most {} pixels", limits.max_side,
                              limits.max_pixels),
      .found = fmt::format("{}x{}", header.width, header.height),
      .hint = "Raise the limit if the image is meant to be this large."};
}

// All of the image is decoded whatever is wanted of it.
bool needs_whole(const DecodeOptions& options) {
  return options.window && options.window->of_image;
}

// The largest scale at which the region still has at least the target's pixels.
int choose_scale(const StoredHeader& header, const DecodeOptions& options, const Region& region) {
  if (options.scale != 0) return options.scale;
  if (options.exact || needs_whole(options) || header.format != ImageFormat::kJpeg) return 1;
  if (options.target_width < 1 || options.target_height < 1) return 1;
  for (const int scale : {8, 4, 2}) {
    if (region.width / scale >= options.target_width &&
        region.height / scale >= options.target_height) {
      return scale;
    }
  }
  return 1;
}

void check(const DecodeOptions& options, const Region& region, const ImageHeader& header) {
  STOKER_INVARIANT(options.channels == 1 || options.channels == 3 || options.channels == 4,
                   "{} channels", options.channels);
  STOKER_INVARIANT(options.depth == 8 || options.depth == 16, "{} bits", options.depth);
  STOKER_INVARIANT(!options.window || options.depth == 16, "a window of {} bits", options.depth);
  STOKER_INVARIANT(region.width >= 1 && region.height >= 1 && region.left >= 0 && region.top >= 0 &&
                       region.left <= header.width - region.width &&
                       region.top <= header.height - region.height,
                   "region {}+{}, {}+{} of an image of {}x{}", region.left, region.width,
                   region.top, region.height, header.width, header.height);
}

// Where a stored region lies in the pixels that cover it at a scale.
RegionF box_of(const Region& region, int scale) {
  const Region rect = pixels_covering(region, scale);
  return {.left = static_cast<double>(region.left) / scale - rect.left,
          .top = static_cast<double>(region.top) / scale - rect.top,
          .width = static_cast<double>(region.width) / scale,
          .height = static_cast<double>(region.height) / scale};
}

RegionF whole_box(const Region& region) {
  return {0, 0, static_cast<double>(region.width), static_cast<double>(region.height)};
}

}  // namespace

std::string_view format_name(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kWebp:
      return "WebP";
    case ImageFormat::kTiff:
      return "TIFF";
    case ImageFormat::kBmp:
      return "BMP";
    case ImageFormat::kPnm:
      return "PNM";
  }
  return "";
}

std::optional<ImageFormat> sniff_format(std::span<const std::byte> bytes) {
  if (starts_with(bytes, "\xFF\xD8\xFF")) return ImageFormat::kJpeg;
  if (starts_with(bytes, "\x89PNG\r\n\x1A\n")) return ImageFormat::kPng;
  if (starts_with(bytes, "RIFF") && starts_with(bytes, "WEBP", 8)) return ImageFormat::kWebp;
  if (is_tiff(bytes)) return ImageFormat::kTiff;
  if (is_bmp(bytes)) return ImageFormat::kBmp;
  if (is_pnm(bytes)) return ImageFormat::kPnm;
  return std::nullopt;
}

struct ImageDecoder::State {
  DecodeLimits limits;
  detail::JpegDecoder jpeg;
  detail::PngDecoder png;
  detail::WebpDecoder webp;
  detail::TiffDecoder tiff;
  detail::BmpDecoder bmp;
  detail::PnmDecoder pnm;
  detail::PixelBuffer stored, upright, wide;
  StoredHeader header;  // sides as stored
  bool opened = false;

  [[nodiscard]] Result<StoredHeader> read(ImageFormat format, std::span<const std::byte> bytes,
                                          int page) {
    switch (format) {
      case ImageFormat::kJpeg:
        return jpeg.open(bytes);
      case ImageFormat::kPng:
        return png.open(bytes);
      case ImageFormat::kWebp:
        return webp.open(bytes);
      case ImageFormat::kTiff:
        return tiff.open(bytes, page);
      case ImageFormat::kBmp:
        return bmp.open(bytes);
      case ImageFormat::kPnm:
        break;
    }
    return pnm.open(bytes);
  }
  [[nodiscard]] Result<StoredPixels> decode(const StoredRequest& request) {
    switch (header.format) {
      case ImageFormat::kJpeg:
        return jpeg.decode(request, limits.max_scans, stored);
      case ImageFormat::kPng:
        return png.decode(request, stored);
      case ImageFormat::kWebp:
        return webp.decode(request, stored);
      case ImageFormat::kTiff:
        return tiff.decode(request, stored);
      case ImageFormat::kBmp:
        return bmp.decode(request, stored);
      case ImageFormat::kPnm:
        break;
    }
    return pnm.decode(request, stored);
  }
  [[nodiscard]] ImageHeader upright_header() const {
    ImageHeader turned = header;
    if (detail::swaps_sides(header.orientation)) std::swap(turned.width, turned.height);
    return turned;
  }
  [[nodiscard]] MutableImageView turned(const MutableImageView& pixels) {
    if (header.orientation == 1) return pixels;
    ImageShape shape = pixels.shape;
    if (detail::swaps_sides(header.orientation)) std::swap(shape.width, shape.height);
    const MutableImageView out{upright.reserve(shape.bytes()), shape, shape.bytes_per_row()};
    detail::turn_upright(out, pixels, header.orientation);
    return out;
  }
  // At the depth that is wanted, through the window, and only the part that is wanted.
  [[nodiscard]] MutableImageView finished(MutableImageView pixels, const DecodeOptions& options,
                                          const Region& region) {
    if (options.depth == 16 && pixels.shape.depth == 8) {
      ImageShape shape = pixels.shape;
      shape.depth = 16;
      const MutableImageView out{wide.reserve(shape.bytes()), shape, shape.bytes_per_row()};
      detail::widen(out, pixels);
      pixels = out;
    }
    if (options.window) detail::apply_window(pixels, *options.window);
    if (!needs_whole(options)) return pixels;
    pixels.data = pixels.row(region.top) +
                  static_cast<std::size_t>(region.left) * pixels.shape.bytes_per_pixel();
    pixels.shape.width = region.width;
    pixels.shape.height = region.height;
    return pixels;
  }
};

ImageDecoder::ImageDecoder(const DecodeLimits& limits) : state_(std::make_unique<State>()) {
  state_->limits = limits;
}
ImageDecoder::~ImageDecoder() = default;
ImageDecoder::ImageDecoder(ImageDecoder&&) noexcept = default;
ImageDecoder& ImageDecoder::operator=(ImageDecoder&&) noexcept = default;

Result<ImageHeader> ImageDecoder::open(std::span<const std::byte> bytes, int page) {
  state_->opened = false;
  const auto format = sniff_format(bytes);
  if (!format) return not_decoded(bytes);
  auto header = state_->read(*format, bytes, page);
  if (!header) return header;
  if (auto refused = beyond_limits(*header, state_->limits)) return *std::move(refused);
  state_->header = *header;
  state_->opened = true;
  return state_->upright_header();
}

Result<DecodedImage> ImageDecoder::decode(const DecodeOptions& options) {
  State& state = *state_;
  STOKER_INVARIANT(std::exchange(state.opened, false), "decode() without a successful open()");
  const ImageHeader header = state.upright_header();
  const Region region = options.region.value_or(Region{0, 0, header.width, header.height});
  check(options, region, header);
  const Region decoded = needs_whole(options) ? Region{0, 0, header.width, header.height} : region;
  const StoredRequest request{.region = detail::to_stored(decoded, header.orientation,
                                                          state.header.width, state.header.height),
                              .scale = choose_scale(header, options, region),
                              .channels = options.channels,
                              .background = options.background,
                              .depth = header.bits == 16 ? options.depth : 8};
  try {
    auto stored = state.decode(request);
    if (!stored) return stored.error();
    const ImageShape shape = stored->pixels.shape;
    const RegionF box = detail::to_upright(box_of(request.region, request.scale),
                                           header.orientation, shape.width, shape.height);
    const MutableImageView pixels = state.finished(state.turned(stored->pixels), options, region);
    return DecodedImage{.pixels = pixels,
                        .scale = request.scale,
                        .box = needs_whole(options) ? whole_box(region) : box,
                        .tolerated = stored->tolerated};
  } catch (const std::bad_alloc&) {
    return ErrorDetails{
        .what = fmt::format("no memory for an image of {}x{}", header.width, header.height)};
  }
}

int decode_scale(const ImageHeader& header, const DecodeOptions& options) {
  return choose_scale(header, options,
                      options.region.value_or(Region{0, 0, header.width, header.height}));
}

Region pixels_covering(const Region& region, int scale) {
  const int left = region.left / scale, top = region.top / scale;
  return {.left = left,
          .top = top,
          .width = (region.left + region.width + scale - 1) / scale - left,
          .height = (region.top + region.height + scale - 1) / scale - top};
}

Result<ImageHeader> read_image_header(std::span<const std::byte> bytes,
                                      const DecodeLimits& limits) {
  return ImageDecoder(limits).open(bytes);
}

}  // namespace stoker
