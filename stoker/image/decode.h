/// \file
/// Decodes JPEG, PNG, WebP, TIFF, BMP and PNM into grey, RGB or RGBA, of 8 or 16 bits, upright,
/// all of it or only a region.
/// One ImageDecoder a thread: it keeps its memory from image to image, so that none is taken once
/// it has seen the largest. Nothing is read beyond the given bytes, nothing is printed, and no
/// memory is taken before the header has passed the limits: then at most 20 bytes a pixel and 32
/// MB, and a copy of a JPEG file that is decoded in parts; 40 bytes a pixel for 16 bits or RGBA.
/// (The exception is a hostile WebP without loss: libwebp takes what its code tables need, which
/// may be hundreds of MB for a file of as many kB.)
///
/// Pixels equal Pillow's: the accurate integer DCT with smooth chroma for JPEG. At depth 8, of 16
/// bits the high byte is kept, in every format. At depth 16, values of 16 bits keep all of them,
/// and the others are what they are at depth 8, times 257. Where an image has transparency it is
/// laid over the background, unless four channels are wanted.
/// GIF, HEIC and AVIF are recognised and refused with the name of a tool that converts them.
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
enum class ImageFormat : std::uint8_t { kJpeg, kPng, kWebp, kTiff, kBmp, kPnm };
/// "JPEG", "PNG", "WebP", "TIFF", "BMP", "PNM"
[[nodiscard]] STOKER_API std::string_view format_name(ImageFormat format);

/// The format by the first 32 bytes, whatever the file's name ends in; none where it is not
/// decoded.
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
  bool palette = false;       ///< PNG, TIFF, BMP
  bool cmyk = false;          ///< JPEG, TIFF: CMYK or YCCK
  bool progressive = false;   ///< JPEG in several scans, interlaced PNG
  bool animated = false;      ///< several images: WebP, PNG, pages of TIFF; one is decoded
  bool operator==(const ImageHeader&) const = default;
};

/// Which values become 0 and 65535 at depth 16; those between are
/// ((value - low) * 65535 + (high - low) / 2) / (high - low), in whole numbers. Alpha keeps its
/// own.
struct ValueWindow {
  int low = 0, high = 65535;  ///< low < high
  /// Low and high are the smallest and the largest value of the whole image, which is then always
  /// decoded whole. An image of one value becomes black.
  bool of_image = false;
  bool operator==(const ValueWindow&) const = default;
};

/// What is wanted of an image.
struct DecodeOptions {
  /// 1: Pillow's L, (19595 R + 38470 G + 7471 B + 32768) >> 16; 3: RGB; 4: RGBA as stored, opaque
  /// where the file says nothing.
  int channels = 3;
  Colour background{255, 255, 255};
  int depth = 8;                           ///< bits of a value: 8 or 16
  std::optional<ValueWindow> window = {};  ///< only with depth 16
  std::optional<Region> region = {};       ///< of the upright image; all of it where missing
  /// Where not exact, a JPEG whose region is at least 2, 4 or 8 times the target in both directions
  /// is decoded at 1/2, 1/4 or 1/8 of its size.
  bool exact = true;
  int target_width = 0, target_height = 0;
  int scale = 0;  ///< 1, 2, 4 or 8 for a JPEG, whatever the target; 0: chosen as above
};
/// The scale at which an image is decoded with these options.
[[nodiscard]] STOKER_API int decode_scale(const ImageHeader& header, const DecodeOptions& options);
/// The pixels at a scale of which a region covers a part.
[[nodiscard]] STOKER_API Region pixels_covering(const Region& region, int scale);

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
  /// file that is cut short is refused here where that can be told without decoding. `page` is that
  /// of a TIFF file with several, counted from 0; other formats ignore it.
  [[nodiscard]] STOKER_API Result<ImageHeader> open(std::span<const std::byte> bytes, int page = 0);

  /// Decodes what open() has accepted, once for each open(). An error names reason and byte but no
  /// path: the caller knows it. Damage is an error, not half an image; but damage outside the
  /// region may not be seen, because not all of those bytes are read. The region must lie inside
  /// the image.
  [[nodiscard]] STOKER_API Result<DecodedImage> decode(const DecodeOptions& options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// open() alone, for callers that want no pixels.
[[nodiscard]] STOKER_API Result<ImageHeader> read_image_header(std::span<const std::byte> bytes,
                                                               const DecodeLimits& limits = {});

}  // namespace stoker
