#include "stoker/image/decode.h"

#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/invariant.h"
#include "stoker/image/detail/codec.h"
#include "stoker/image/detail/jpeg_decoder.h"
#include "stoker/image/detail/orientation.h"
#include "stoker/image/detail/png_decoder.h"
#include "stoker/image/detail/webp_decoder.h"

namespace stoker {
namespace {

using detail::StoredHeader;
using detail::StoredPixels;
using detail::StoredRequest;

bool starts_with(std::span<const std::byte> bytes, std::string_view text, std::size_t at = 0) {
  return bytes.size() >= at + text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
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

// The largest scale at which the region still has at least the target's pixels.
int choose_scale(const StoredHeader& header, const DecodeOptions& options, const Region& region) {
  if (options.exact || header.format != ImageFormat::kJpeg) return 1;
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
  STOKER_INVARIANT(options.channels == 1 || options.channels == 3, "{} channels", options.channels);
  STOKER_INVARIANT(region.width >= 1 && region.height >= 1 && region.left >= 0 && region.top >= 0 &&
                       region.left <= header.width - region.width &&
                       region.top <= header.height - region.height,
                   "region {}+{}, {}+{} of an image of {}x{}", region.left, region.width,
                   region.top, region.height, header.width, header.height);
}

// Where a stored region lies in the pixels that cover it at a scale.
RegionF box_of(const Region& region, int scale) {
  const Region rect = detail::covering(region, scale);
  return {.left = static_cast<double>(region.left) / scale - rect.left,
          .top = static_cast<double>(region.top) / scale - rect.top,
          .width = static_cast<double>(region.width) / scale,
          .height = static_cast<double>(region.height) / scale};
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
  }
  return "";
}

std::optional<ImageFormat> sniff_format(std::span<const std::byte> bytes) {
  if (starts_with(bytes, "\xFF\xD8\xFF")) return ImageFormat::kJpeg;
  if (starts_with(bytes, "\x89PNG\r\n\x1A\n")) return ImageFormat::kPng;
  if (starts_with(bytes, "RIFF") && starts_with(bytes, "WEBP", 8)) return ImageFormat::kWebp;
  return std::nullopt;
}

struct ImageDecoder::State {
  DecodeLimits limits;
  detail::JpegDecoder jpeg;
  detail::PngDecoder png;
  detail::WebpDecoder webp;
  detail::PixelBuffer stored, upright;
  StoredHeader header;  // sides as stored
  bool opened = false;

  [[nodiscard]] Result<StoredHeader> read(ImageFormat format, std::span<const std::byte> bytes) {
    switch (format) {
      case ImageFormat::kJpeg:
        return jpeg.open(bytes);
      case ImageFormat::kPng:
        return png.open(bytes);
      case ImageFormat::kWebp:
        break;
    }
    return webp.open(bytes);
  }
  [[nodiscard]] Result<StoredPixels> decode(const StoredRequest& request) {
    switch (header.format) {
      case ImageFormat::kJpeg:
        return jpeg.decode(request, limits.max_scans, stored);
      case ImageFormat::kPng:
        return png.decode(request, stored);
      case ImageFormat::kWebp:
        break;
    }
    return webp.decode(request, stored);
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
};

ImageDecoder::ImageDecoder(const DecodeLimits& limits) : state_(std::make_unique<State>()) {
  state_->limits = limits;
}
ImageDecoder::~ImageDecoder() = default;
ImageDecoder::ImageDecoder(ImageDecoder&&) noexcept = default;
ImageDecoder& ImageDecoder::operator=(ImageDecoder&&) noexcept = default;

Result<ImageHeader> ImageDecoder::open(std::span<const std::byte> bytes) {
  state_->opened = false;
  const auto format = sniff_format(bytes);
  if (!format) {
    return ErrorDetails{.what = "cannot decode the file as an image",
                        .offset = 0,
                        .expected = "the first bytes of a JPEG, PNG or WebP file",
                        .found = bytes.empty() ? "an empty file" : "others"};
  }
  auto header = state_->read(*format, bytes);
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
  const StoredRequest request{.region = detail::to_stored(region, header.orientation,
                                                          state.header.width, state.header.height),
                              .scale = choose_scale(header, options, region),
                              .channels = options.channels,
                              .background = options.background};
  try {
    auto stored = state.decode(request);
    if (!stored) return stored.error();
    const ImageShape shape = stored->pixels.shape;
    return DecodedImage{.pixels = state.turned(stored->pixels),
                        .scale = request.scale,
                        .box = detail::to_upright(box_of(request.region, request.scale),
                                                  header.orientation, shape.width, shape.height),
                        .tolerated = stored->tolerated};
  } catch (const std::bad_alloc&) {
    return ErrorDetails{
        .what = fmt::format("no memory for an image of {}x{}", header.width, header.height)};
  }
}

Result<ImageHeader> read_image_header(std::span<const std::byte> bytes,
                                      const DecodeLimits& limits) {
  return ImageDecoder(limits).open(bytes);
}

}  // namespace stoker
