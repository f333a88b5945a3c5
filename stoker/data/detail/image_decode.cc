#include "stoker/data/detail/image_decode.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace stoker::detail {
namespace {

// What one view needs of the image.
struct WantedPart {
  std::optional<Frame> frame;  // nothing: all of it, as it is
  DecodeOptions decode;        // with region and scale
};

WantedPart wanted_part(const ImageHeader& header, const FolderOptions& options,
                       const FrameRequest& request, const SampleKey& key) {
  WantedPart wanted{.frame = {},
                    .decode = {.channels = options.channels,
                               .background = options.background,
                               .depth = options.depth,
                               .window = options.window}};
  if (request.framing == nullptr) return wanted;
  Rng rng = Policy::framing_rng(key);
  wanted.frame = request.framing->draw(rng, header.width, header.height);
  wanted.decode.region = wanted.frame->region;
  wanted.decode.exact = request.options.exact_decode;
  wanted.decode.target_width = wanted.frame->width;
  wanted.decode.target_height = wanted.frame->height;
  wanted.decode.scale = decode_scale(header, wanted.decode);
  return wanted;
}

std::int64_t area(const Region& region) { return std::int64_t{region.width} * region.height; }

Region union_of(const Region& a, const Region& b) {
  const int left = std::min(a.left, b.left), top = std::min(a.top, b.top);
  return {.left = left,
          .top = top,
          .width = std::max(a.left + a.width, b.left + b.width) - left,
          .height = std::max(a.top + a.height, b.top + b.height) - top};
}

bool contains(const Region& outer, const Region& inner) { return union_of(outer, inner) == outer; }

// The region to decode at once for this view and those of `later` that have the same scale: as long
// as that is less work than decoding each part by itself.
Region region_for_all(const ImageHeader& header, const FolderOptions& options,
                      const FrameRequest& request, const WantedPart& wanted) {
  Region region = *wanted.decode.region;
  // A turned image's parts at a scale do not begin at whole pixels of each other.
  if (header.orientation != 1 && wanted.decode.scale != 1) return region;
  std::int64_t alone = area(region);
  for (const SampleKey& key : request.later) {
    const WantedPart other = wanted_part(header, options, request, key);
    if (other.decode.scale != wanted.decode.scale) continue;
    const Region both = union_of(region, *other.decode.region);
    alone += area(*other.decode.region);
    if (area(both) > alone) return *wanted.decode.region;
    region = both;
  }
  return region;
}

// Whether what was decoded holds this view's part as decoding that part alone would give it.
bool serves(const DecodedForViews& decoded, const WantedPart& wanted) {
  if (!wanted.frame) return true;
  return decoded.image.pixels.data != nullptr && decoded.image.scale == wanted.decode.scale &&
         contains(decoded.region, wanted.frame->region);
}

// The pixels that decoding this view's part alone would give, and the part within them.
struct PartOfImage {
  ImageView pixels;
  RegionF box;
};
PartOfImage part_of(const DecodedForViews& decoded, const Region& region) {
  const DecodedImage& image = decoded.image;
  if (decoded.region == region) return {image.pixels, image.box};
  const Region all = pixels_covering(decoded.region, image.scale);
  const Region part = pixels_covering(region, image.scale);
  ImageView pixels = image.pixels;
  pixels.data = pixels.row(part.top - all.top) +
                static_cast<std::size_t>(part.left - all.left) * pixels.shape.bytes_per_pixel();
  pixels.shape.height = part.height;
  pixels.shape.width = part.width;
  return {pixels,
          {.left = static_cast<double>(region.left) / image.scale - part.left,
           .top = static_cast<double>(region.top) / image.scale - part.top,
           .width = static_cast<double>(region.width) / image.scale,
           .height = static_cast<double>(region.height) / image.scale}};
}

// Into the buffer; gives the error where it cannot.
std::optional<ErrorDetails> decode_part(const DecodeOptions& options, SampleBuffer& buffer) {
  auto decoded = buffer.decoder->decode(options);
  if (!decoded) return decoded.error();
  const ImageHeader& header = buffer.views.header;
  buffer.views.image = *decoded;
  buffer.views.region = options.region.value_or(Region{0, 0, header.width, header.height});
  return std::nullopt;
}

std::optional<ErrorDetails> open_image(std::span<const std::byte> bytes,
                                       const FolderOptions& options, SampleBuffer& buffer) {
  if (!buffer.decoder) buffer.decoder = std::make_unique<ImageDecoder>(options.limits);
  buffer.views = {};
  auto header = buffer.decoder->open(bytes, options.page);
  if (!header) return header.error();
  buffer.views.header = *header;
  return std::nullopt;
}

// What this view needs, and with it what later ones need where that is less work.
std::optional<ErrorDetails> decode_for(std::span<const std::byte> bytes,
                                       const FolderOptions& options, const FrameRequest& request,
                                       const WantedPart& wanted, SampleBuffer& buffer) {
  if (request.later.empty() || !wanted.frame) return decode_part(wanted.decode, buffer);
  DecodeOptions for_all = wanted.decode;
  for_all.region = region_for_all(buffer.views.header, options, request, wanted);
  auto error = decode_part(for_all, buffer);
  if (!error || for_all.region == wanted.decode.region) return error;
  // Damage outside this view's own part must not cost it.
  if (auto again = open_image(bytes, options, buffer)) return again;
  return decode_part(wanted.decode, buffer);
}

}  // namespace

Result<ImageView> decode_image(std::span<const std::byte> bytes, const FolderOptions& options,
                               const FrameRequest& request, SampleBuffer& buffer) {
  if (!request.again) {
    if (auto error = open_image(bytes, options, buffer)) return *std::move(error);
  }
  const WantedPart wanted = wanted_part(buffer.views.header, options, request, request.key);
  if (!request.again) {
    if (auto error = decode_for(bytes, options, request, wanted, buffer)) return *std::move(error);
  } else if (!serves(buffer.views, wanted)) {
    if (auto error = open_image(bytes, options, buffer)) return *std::move(error);
    if (auto error = decode_part(wanted.decode, buffer)) return *std::move(error);
  }
  if (!wanted.frame) return ImageView(buffer.views.image.pixels);
  const auto [pixels, box] = part_of(buffer.views, wanted.frame->region);
  buffer.framed.reshape(
      {wanted.frame->cut.height, wanted.frame->cut.width, options.channels, options.depth});
  apply_frame(buffer.framed.view(), pixels,
              {box.left, box.top, box.left + box.width, box.top + box.height}, *wanted.frame,
              request.options, buffer.framing);
  return std::as_const(buffer.framed).view();
}

}  // namespace stoker::detail
