/// \file
/// Decodes JPEG, PNG and WebP into 8-bit grey or RGB, upright, all of it or only a region.
/// One ImageDecoder a thread: it keeps its memory from image to image, so that none is taken once
/// it has seen the largest. Nothing is read beyond the given bytes, nothing is printed, and no
/// memory is taken before the header has passed the limits: then at most 20 bytes a pixel and 32
/// MB. (The exception is a hostile WebP without loss: libwebp takes what its code tables need,
/// which may be hundreds of MB for a file of as many kB.)
///
/// Pixels equal Pillow's: the accurate integer DCT with smooth chroma for JPEG, the high byte of 16
/// bits. Where an image has transparency it is laid over the background.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "stoker/core/result.h"
#include "stoker/export.h"
#include "stoker/image/colour.h"
#include "stoker/image/image.h"

namespace stoker {

/// What can be decoded.
enum class ImageFormat : std::uint8_t { kJpeg, kPng, kWebp };
/// "JPEG", "PNG", "WebP"
[[nodiscard]] STOKER_API std::string_view format_name(ImageFormat format);

/// Whether the first bytes are those of a JPEG, PNG or WebP file, whatever its name ends in.
[[nodiscard]] STOKER_API std::optional<ImageFormat> sniff_format(std::span<const std::byte> bytes);

/// What is refused from the header alone. The pixels are Pillow's limit, 2^29 / 3.
struct DecodeLimits {
  int max_side = 65500;
  std::int64_t max_pixels = 178'956'970;
  int max_scans = 100;  ///< of a progressive JPEG; encoders make 10 or so, each costs a full pass
};

/// Whole pixels, from the top left corner of the upright image.
struct Region {
  int left = 0, top = 0, width = 0, height = 0;
  bool operator==(const Region&) const = default;
};

/// Like Region, in fractions of pixels.
struct RegionF {
  double left = 0, top = 0, width = 0, height = 0;
  bool operator==(const RegionF&) const = default;
};

/// What a file says about its image before it is decoded.
struct ImageHeader {
  ImageFormat format = ImageFormat::kJpeg;
  int width = 0, height = 0;  ///< upright
  int orientation = 1;        ///< EXIF's 1 … 8; 1 where the file says nothing, or nothing valid
  int bits = 8;               ///< of a stored value: 1, 2, 4, 8, 16
  bool grey = false;          ///< stored without colour
  bool alpha = false;         ///< has transparency, a palette's or a single colour's included
  bool palette = false;       ///< PNG
  bool cmyk = false;          ///< JPEG: CMYK or YCCK
  bool progressive = false;   ///< JPEG in several scans, interlaced PNG
  bool animated = false;      ///< WebP or PNG; the first image is decoded
  bool operator==(const ImageHeader&) const = default;
};

/// What is wanted of an image.
struct DecodeOptions {
  int channels = 3;  ///< 1: Pillow's L, (19595 R + 38470 G + 7471 B + 32768) >> 16
  Colour background{255, 255, 255};
  std::optional<Region> region = {};  ///< of the upright image; all of it where missing
  /// Where not exact, a JPEG whose region is at least 2, 4 or 8 times the target in both directions
  /// is decoded at 1/2, 1/4 or 1/8 of its size.
  bool exact = true;
  int target_width = 0, target_height = 0;
};

/// What was decoded.
struct DecodedImage {
  /// Upright, in the decoder's memory: valid until its next open() or decode(). Rows may have gaps.
  /// Exactly the region where scale is 1, else the smallest rectangle that covers it.
  MutableImageView pixels;
  int scale = 1;  ///< 1, 2, 4, 8: how many pixels of the file lie side by side in one of these
  RegionF box;    ///< the region within `pixels`
  /// Oddities that cost no pixel, such as stray bytes before a JPEG marker; see jpeg_decoder.cc.
  int tolerated = 0;
};

/// Decodes one image after another. Belongs to one thread.
class ImageDecoder {
 public:
  STOKER_API explicit ImageDecoder(const DecodeLimits& limits = {});
  STOKER_API ~ImageDecoder();
  STOKER_API ImageDecoder(ImageDecoder&&) noexcept;
  STOKER_API ImageDecoder& operator=(ImageDecoder&&) noexcept;

  /// Reads the header. `bytes` is the whole file and must stay as it is until decode() is done. A
  /// file that is cut short is refused here where that can be told without decoding.
  [[nodiscard]] STOKER_API Result<ImageHeader> open(std::span<const std::byte> bytes);

  /// Decodes what open() has accepted, once for each open(). An error names reason and byte but no
  /// path: the caller knows it. Damage is an error, not half an image; but damage below the region
  /// is not seen, because those bytes are not read. The region must lie inside the image.
  [[nodiscard]] STOKER_API Result<DecodedImage> decode(const DecodeOptions& options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// open() alone, for callers that want no pixels.
[[nodiscard]] STOKER_API Result<ImageHeader> read_image_header(std::span<const std::byte> bytes,
                                                               const DecodeLimits& limits = {});

}  // namespace stoker
