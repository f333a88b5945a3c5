#include "stoker/image/detail/tiff_layout.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <tiffio.h>

namespace stoker::detail {
namespace {

constexpr std::int64_t kSmallTile = 1 << 20;  // pixels; a larger one must not exceed the image
constexpr int kMostSamples = 6;               // colours and what lies beside them

// Tags as libtiff gives them, with its defaults.
struct TiffTags {
  std::uint32_t width = 0, height = 0, tile_width = 0, tile_height = 0, rows_per_strip = 0;
  std::uint16_t bits = 1, samples = 1, photometric = 0, planes = 1, compression = 1;
  std::uint16_t value_type = SAMPLEFORMAT_UINT, orientation = 1, extra_count = 0;
  std::uint16_t first_extra = EXTRASAMPLE_UNSPECIFIED;
  bool has_photometric = false, tiled = false;
};

TiffTags read_tags(TIFF* file) {
  TiffTags tags;
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &tags.width);
  TIFFGetField(file, TIFFTAG_IMAGELENGTH, &tags.height);
  TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &tags.bits);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLESPERPIXEL, &tags.samples);
  TIFFGetFieldDefaulted(file, TIFFTAG_PLANARCONFIG, &tags.planes);
  TIFFGetFieldDefaulted(file, TIFFTAG_COMPRESSION, &tags.compression);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &tags.value_type);
  TIFFGetFieldDefaulted(file, TIFFTAG_ORIENTATION, &tags.orientation);
  tags.has_photometric = TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &tags.photometric) != 0;
  tags.tiled = TIFFIsTiled(file) != 0;
  if (tags.tiled) {
    TIFFGetField(file, TIFFTAG_TILEWIDTH, &tags.tile_width);
    TIFFGetField(file, TIFFTAG_TILELENGTH, &tags.tile_height);
  } else {
    TIFFGetFieldDefaulted(file, TIFFTAG_ROWSPERSTRIP, &tags.rows_per_strip);
  }
  const std::uint16_t* extras = nullptr;
  if (TIFFGetField(file, TIFFTAG_EXTRASAMPLES, &tags.extra_count, &extras) != 0 &&
      tags.extra_count > 0) {
    tags.first_extra = extras[0];
  }
  return tags;
}

std::string tiff_compression(std::uint16_t compression) {
  static constexpr std::pair<std::uint16_t, const char*> kNames[] = {
      {COMPRESSION_CCITTRLE, "CCITT"},
      {COMPRESSION_CCITTFAX3, "CCITT group 3"},
      {COMPRESSION_CCITTFAX4, "CCITT group 4"},
      {COMPRESSION_OJPEG, "old-style JPEG"},
      {COMPRESSION_LZMA, "LZMA"},
      {COMPRESSION_ZSTD, "Zstandard"},
      {COMPRESSION_WEBP, "WebP"},
      {COMPRESSION_LERC, "LERC"},
      {COMPRESSION_JBIG, "JBIG"},
      {COMPRESSION_JP2000, "JPEG 2000"}};
  for (const auto& [code, name] : kNames) {
    if (code == compression) return fmt::format("{} compression", name);
  }
  return fmt::format("compression {}", compression);
}

bool known_compression(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_JPEG:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_PACKBITS:
      return TIFFIsCODECConfigured(compression) != 0;
    default:
      return false;
  }
}

std::string value_name(const TiffTags& tags) {
  const char* type = tags.value_type == SAMPLEFORMAT_IEEEFP ? "floating-point "
                     : tags.value_type == SAMPLEFORMAT_INT  ? "signed "
                     : tags.value_type == SAMPLEFORMAT_UINT ? ""
                                                            : "complex ";
  return fmt::format("{}values of {} bits", type, tags.bits);
}

// "" where values and compression can be decoded.
std::string refused_values(const TiffTags& tags) {
  constexpr std::uint32_t kMost = std::numeric_limits<int>::max();
  if (tags.width == 0 || tags.height == 0 || tags.width > kMost || tags.height > kMost) {
    return fmt::format("a width of {} and a height of {}", tags.width, tags.height);
  }
  if (!known_compression(tags.compression)) return tiff_compression(tags.compression);
  const bool unsigned_type =
      tags.value_type == SAMPLEFORMAT_UINT || tags.value_type == SAMPLEFORMAT_VOID;
  const bool known_bits =
      tags.bits == 1 || tags.bits == 2 || tags.bits == 4 || tags.bits == 8 || tags.bits == 16;
  if (!unsigned_type || !known_bits) return value_name(tags);
  if (tags.samples < 1 || tags.samples > kMostSamples) {
    return fmt::format("{} values a pixel", tags.samples);
  }
  return tags.has_photometric ? "" : "no photometric interpretation";
}

std::string colours_name(const TiffTags& tags) {
  static constexpr std::pair<std::uint16_t, const char*> kNames[] = {
      {PHOTOMETRIC_MINISWHITE, "grey"},
      {PHOTOMETRIC_MINISBLACK, "grey"},
      {PHOTOMETRIC_RGB, "RGB"},
      {PHOTOMETRIC_PALETTE, "palette"},
      {PHOTOMETRIC_MASK, "mask"},
      {PHOTOMETRIC_SEPARATED, "CMYK"},
      {PHOTOMETRIC_YCBCR, "YCbCr"},
      {PHOTOMETRIC_CIELAB, "CIE Lab"},
      {PHOTOMETRIC_CFA, "colour filter array"}};
  std::string name = fmt::format("photometric interpretation {}", tags.photometric);
  for (const auto& [code, known] : kNames) {
    if (code == tags.photometric) name = known;
  }
  return fmt::format("{} with {} values of {} bits a pixel{}", name, tags.samples, tags.bits,
                     tags.compression == COMPRESSION_JPEG ? ", JPEG compression" : "");
}

// Sets colours, alpha and what is used of a pixel; false where the combination is not decoded.
bool set_colours(TiffLayout& layout, const TiffTags& tags) {
  const bool jpeg = tags.compression == COMPRESSION_JPEG;
  const auto is = [&](TiffColours colours, int used, int most_samples, int least_bits) {
    layout.colours = colours;
    layout.used = used;
    return tags.samples >= used && tags.samples <= most_samples && tags.bits >= least_bits;
  };
  switch (tags.photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
      layout.white_is_zero = tags.photometric == PHOTOMETRIC_MINISWHITE;
      return is(TiffColours::kGrey, 1, 2, 1) && (tags.samples == 1 || tags.bits >= 8);
    case PHOTOMETRIC_RGB:
      return is(TiffColours::kRgb, 3, kMostSamples, 8);
    case PHOTOMETRIC_PALETTE:
      return is(TiffColours::kPalette, 1, 1, 1) && tags.bits <= 8 && !jpeg;
    case PHOTOMETRIC_SEPARATED:
      return is(TiffColours::kCmyk, 4, kMostSamples, 8);
    case PHOTOMETRIC_YCBCR:  // libtiff's JPEG decoder gives RGB
      return is(TiffColours::kRgb, 3, 3, 8) && jpeg && tags.planes == PLANARCONFIG_CONTIG;
    default:
      return false;
  }
}

// Whether the directory holds the tag. libtiff adds tags that it misses.
bool holds_tag(const TiffFile& file, std::uint16_t wanted) {
  const auto bytes = file.bytes();
  const bool little = bytes[0] == std::byte{'I'};
  const auto number = [&](std::uint64_t at, std::uint64_t size) -> std::uint64_t {
    if (at > bytes.size() || bytes.size() - at < size) return 0;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + (little ? size - 1 - i : i)]);
    }
    return value;
  };
  const bool big = number(2, 2) == 43;
  const std::uint64_t count_bytes = big ? 8 : 2, entry_bytes = big ? 20 : 12;
  const std::uint64_t directory = TIFFCurrentDirOffset(file.handle());
  const std::uint64_t most = bytes.size() / entry_bytes;
  const std::uint64_t count = std::min(number(directory, count_bytes), most);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (number(directory + count_bytes + i * entry_bytes, 2) == wanted) return true;
  }
  return false;
}

// Four values without a word about the fourth are RGBA, as Pillow reads them.
TiffAlpha alpha_of(const TiffFile& file, const TiffLayout& layout, const TiffTags& tags) {
  const bool extra = tags.samples > layout.used &&
                     (layout.colours == TiffColours::kGrey || layout.colours == TiffColours::kRgb);
  if (!extra) return TiffAlpha::kNone;
  if (tags.first_extra == EXTRASAMPLE_ASSOCALPHA) return TiffAlpha::kPremultiplied;
  if (tags.first_extra == EXTRASAMPLE_UNASSALPHA) return TiffAlpha::kStraight;
  const bool silent = layout.colours == TiffColours::kRgb && tags.samples == 4 &&
                      !holds_tag(file, TIFFTAG_EXTRASAMPLES);
  return silent ? TiffAlpha::kStraight : TiffAlpha::kNone;
}

// Entries have 16 bits. Writers that store 8 are known by having none above 255, as in libtiff.
bool read_tiff_palette(TiffLayout& layout, TIFF* file, int bits) {
  const std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (TIFFGetField(file, TIFFTAG_COLORMAP, &red, &green, &blue) == 0) return false;
  const std::size_t count = std::size_t{1} << bits;
  const auto small = [count](const std::uint16_t* first) {
    return std::all_of(first, first + count, [](std::uint16_t value) { return value < 256; });
  };
  const int shift = small(red) && small(green) && small(blue) ? 0 : 8;
  for (std::size_t i = 0; i < count; ++i) {
    layout.palette[i] = {static_cast<std::uint8_t>(red[i] >> shift),
                         static_cast<std::uint8_t>(green[i] >> shift),
                         static_cast<std::uint8_t>(blue[i] >> shift)};
  }
  return true;
}

// Sizes of strips and tiles, before any memory is taken for them.
bool set_segments(TiffLayout& layout, TIFF* file, const TiffTags& tags) {
  std::uint64_t row = 0, all = 0;
  if (tags.tiled) {
    const std::int64_t pixels = std::int64_t{tags.width} * tags.height;
    const std::uint64_t tile = std::uint64_t{tags.tile_width} * tags.tile_height;
    constexpr std::uint32_t kMost = std::numeric_limits<int>::max();
    if (tile == 0 || tags.tile_width > kMost || tags.tile_height > kMost ||
        tile > static_cast<std::uint64_t>(std::max(pixels, kSmallTile))) {
      return false;
    }
    layout.segment_width = static_cast<int>(tags.tile_width);
    layout.segment_height = static_cast<int>(tags.tile_height);
    row = TIFFTileRowSize64(file);
    all = TIFFTileSize64(file);
  } else {
    if (tags.rows_per_strip == 0) return false;
    layout.segment_width = static_cast<int>(tags.width);
    layout.segment_height = static_cast<int>(std::min(tags.rows_per_strip, tags.height));
    row = TIFFScanlineSize64(file);
    all = TIFFVStripSize64(file, static_cast<std::uint32_t>(layout.segment_height));
  }
  // What libtiff writes must be what is read here.
  const std::uint64_t values =
      static_cast<std::uint64_t>(layout.segment_width) * (layout.planes ? 1U : tags.samples);
  if (row != (values * tags.bits + 7) / 8) return false;
  if (all != row * static_cast<std::uint64_t>(layout.segment_height)) return false;
  layout.row_bytes = row;
  layout.segment_bytes = all;
  return true;
}

int valid_orientation(std::uint16_t orientation) {
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

ErrorDetails refused_tiff(const TiffFile& file, std::string found) {
  ErrorDetails error =
      decode_error(ImageFormat::kTiff, std::move(found), TIFFCurrentDirOffset(file.handle()));
  error.hint = "Convert it to 8 or 16 bits with LZW or Deflate compression, or to PNG";
  return error;
}

ErrorDetails missing_page(TiffFile& file, int page) {
  std::string error = file.first_error();
  const bool said = file.errors() > 0 &&
                    TIFFNumberOfDirectories(file.handle()) > static_cast<std::uint32_t>(page);
  return decode_error(ImageFormat::kTiff,
                      said ? std::move(error)
                           : fmt::format("no page {}: it has {}, counted from 0", page,
                                         TIFFNumberOfDirectories(file.handle())),
                      0);
}

}  // namespace

Result<TiffLayout> read_tiff_layout(TiffFile& file, int page) {
  if (page > 0 && TIFFSetDirectory(file.handle(), static_cast<std::uint32_t>(page)) == 0) {
    return missing_page(file, page);
  }
  const TiffTags tags = read_tags(file.handle());
  if (std::string found = refused_values(tags); !found.empty()) return refused_tiff(file, found);
  TiffLayout layout{.header = {.format = ImageFormat::kTiff,
                               .width = static_cast<int>(tags.width),
                               .height = static_cast<int>(tags.height),
                               .orientation = valid_orientation(tags.orientation),
                               .bits = tags.bits,
                               .animated = TIFFLastDirectory(file.handle()) == 0 || page > 0},
                    .packed = tags.compression != COMPRESSION_NONE,
                    .jpeg = tags.compression == COMPRESSION_JPEG,
                    .tiled = tags.tiled,
                    .planes = tags.planes == PLANARCONFIG_SEPARATE && tags.samples > 1,
                    .samples = tags.samples};
  if (!set_colours(layout, tags) || (layout.jpeg && tags.bits != 8)) {
    return refused_tiff(file, colours_name(tags));
  }
  if (tags.photometric == PHOTOMETRIC_YCBCR) {
    TIFFSetField(file.handle(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  if (tags.compression == COMPRESSION_ADOBE_DEFLATE || tags.compression == COMPRESSION_DEFLATE) {
    // Of data that unpacks to more than the strip, libdeflate may leave the strip's end unwritten,
    // and libtiff takes it for complete. zlib writes all of it or fails.
    TIFFSetField(file.handle(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
  }
  layout.alpha = alpha_of(file, layout, tags);
  if (layout.alpha != TiffAlpha::kNone) ++layout.used;
  layout.header.alpha = layout.alpha != TiffAlpha::kNone;
  layout.header.grey = layout.colours == TiffColours::kGrey;
  layout.header.cmyk = layout.colours == TiffColours::kCmyk;
  layout.header.palette = layout.colours == TiffColours::kPalette;
  if (layout.header.palette && !read_tiff_palette(layout, file.handle(), tags.bits)) {
    return refused_tiff(file, "a palette image without its palette");
  }
  if (!set_segments(layout, file.handle(), tags)) {
    return refused_tiff(
        file, tags.tiled ? fmt::format("tiles of {}x{} in an image of {}x{}", tags.tile_width,
                                       tags.tile_height, tags.width, tags.height)
                         : fmt::format("strips of {} rows", tags.rows_per_strip));
  }
  return layout;
}

}  // namespace stoker::detail
