// TIFF, BMP and PNM files that other programs wrote: tests/golden/make_images.py. Pixels equal what
// was written, which tifffile and Pillow have read back.
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include "stoker/image/decode.h"
#include "stoker/image/test_codecs.h"
#include "stoker/image/test_golden.h"

namespace stoker {
namespace {

using test::golden_file;
using test::golden_images;
using test::GoldenImage;
using testing::HasSubstr;

constexpr ValueWindow kWindow{.low = 900, .high = 50'000};

std::string checksum_of(const ImageView& image) {
  uLong sum = crc32(0, nullptr, 0);
  for (int y = 0; y < image.shape.height; ++y) {
    sum = crc32_z(sum, image.row(y), image.shape.bytes_per_row());
  }
  return fmt::format("{:08x}", sum);
}

ImageFormat format_named(const std::string& name) {
  return name == "tiff"  ? ImageFormat::kTiff
         : name == "bmp" ? ImageFormat::kBmp
                         : ImageFormat::kPnm;
}

std::string size_of(const ImageHeader& header) {
  return fmt::format("{}x{}", header.width, header.height);
}

Image decoded(ImageDecoder& decoder, const GoldenImage& file, const DecodeOptions& options) {
  (void)decoder.open(as_span(file.bytes), file.page).value();
  return Image(decoder.decode(options).value().pixels);
}

TEST(GoldenImages, HaveThePixelsThatWereWritten) {
  ImageDecoder decoder;
  std::map<std::string, int> seen;
  for (const GoldenImage& file : golden_images()) {
    if (!file.good()) continue;
    auto header = decoder.open(as_span(file.bytes), file.page);
    ASSERT_TRUE(header) << file.name << ": " << to_string(header.error());
    EXPECT_EQ(header->format, format_named(file.format)) << file.name;
    EXPECT_EQ(size_of(*header), file.size) << file.name;
    EXPECT_EQ(header->orientation, file.orientation) << file.name;
    auto image = decoder.decode({});
    ASSERT_TRUE(image) << file.name << ": " << to_string(image.error());
    EXPECT_EQ(checksum_of(image->pixels), file.checksums[0]) << file.name;
    std::size_t place = 0;
    for (const int depth : {8, 16}) {
      for (const int channels : {3, 1, 4}) {
        const Image pixels = decoded(decoder, file, {.channels = channels, .depth = depth});
        EXPECT_EQ(checksum_of(pixels.view()), file.checksums[place++])
            << file.name << ": " << channels << " channels of " << depth << " bits";
      }
    }
    ++seen[file.format];
  }
  EXPECT_GE(seen["tiff"], 90);
  EXPECT_GE(seen["bmp"], 40);
  EXPECT_GE(seen["pnm"], 35);
}

TEST(GoldenImages, ARegionIsAPartOfTheWhole) {
  ImageDecoder decoder;
  const std::array<DecodeOptions, 5> ways = {{{},
                                              {.channels = 4},
                                              {.depth = 16},
                                              {.channels = 1, .depth = 16, .window = kWindow},
                                              {.depth = 16, .window = {{.of_image = true}}}}};
  std::size_t number = 0;
  for (const GoldenImage& file : golden_images()) {
    if (!file.good()) continue;
    DecodeOptions options = ways[number++ % ways.size()];
    const Image whole = decoded(decoder, file, options);
    const int width = whole.shape().width, height = whole.shape().height;
    for (const Region& region : {Region{0, 0, 1, 1},
                                 {width - 1, height - 1, 1, 1},
                                 {1, 2, width - 2, height - 4},
                                 {width / 2, 0, width - width / 2, height},
                                 {0, height / 2, width, 1}}) {
      options.region = region;
      EXPECT_EQ(decoded(decoder, file, options), test::cut(whole, region))
          << file.name << ": " << region.left << "," << region.top << " " << region.width << "x"
          << region.height;
    }
  }
}

TEST(GoldenImages, RefusedOnesSayWhy) {
  ImageDecoder decoder;
  int seen = 0;
  for (const GoldenImage& file : golden_images()) {
    if (file.good()) continue;
    ++seen;
    auto header = decoder.open(as_span(file.bytes), file.page);
    std::string message;
    if (header) {
      auto image = decoder.decode({});
      ASSERT_FALSE(image) << file.name;
      message = to_string(image.error());
    } else {
      message = to_string(header.error());
    }
    EXPECT_THAT(message, HasSubstr(file.expected)) << file.name;
    EXPECT_THAT(message, HasSubstr(format_name(format_named(file.format)))) << file.name;
  }
  EXPECT_GE(seen, 35);
}

// What is left is an image or an error: the end of some files says nothing about pixels. An image
// is the whole one, except that the last number of a plain PNM may have lost a digit.
TEST(GoldenImages, CutAtEveryByteAreTheSameImageOrAnError) {
  ImageDecoder decoder;
  int images = 0, errors = 0;
  for (const GoldenImage& file : golden_images()) {
    if (!file.good()) continue;
    const Image whole = decoded(decoder, file, {});
    const bool plain = file.format == "pnm" && file.bytes[1] <= '3';
    for (std::size_t size = 0; size < file.bytes.size(); ++size) {
      const Bytes part(file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      if (!decoder.open(as_span(part), file.page)) {
        ++errors;
        continue;
      }
      auto image = decoder.decode({});
      ++(image ? images : errors);
      const bool last = plain && size + 6 >= file.bytes.size();
      if (image && !last) {
        ASSERT_EQ(Image(image->pixels), whole) << file.name << " cut at " << size;
      }
    }
  }
  EXPECT_GT(errors, 50 * images);
}

TEST(GoldenImages, AreRefusedBeyondTheLimitsFromTheHeader) {
  for (const char* name : {"tiff one strip", "bmp 32", "pnm P6 of 255", "bmp run lengths of 8"}) {
    const Bytes bytes = golden_file(name);
    EXPECT_TRUE(read_image_header(as_span(bytes), {.max_side = 13, .max_pixels = 91})) << name;
    auto wide = read_image_header(as_span(bytes), {.max_side = 12});
    ASSERT_FALSE(wide) << name;
    EXPECT_THAT(to_string(wide.error()), HasSubstr("13x7")) << name;
    EXPECT_FALSE(read_image_header(as_span(bytes), {.max_pixels = 90})) << name;
  }
}

TEST(GoldenImages, HeadersSayWhatIsStored) {
  const auto header_of = [](const char* name, int page = 0) {
    ImageDecoder decoder;
    return decoder.open(as_span(golden_file(name)), page).value();
  };
  EXPECT_EQ(header_of("tiff little lzw 3xuint16 strips"),
            (ImageHeader{.format = ImageFormat::kTiff, .width = 13, .height = 7, .bits = 16}));
  EXPECT_EQ(header_of("tiff two pages, second", 1), (ImageHeader{.format = ImageFormat::kTiff,
                                                                 .width = 9,
                                                                 .height = 8,
                                                                 .bits = 16,
                                                                 .grey = true,
                                                                 .animated = true}));
  EXPECT_TRUE(header_of("tiff CMYK uint8").cmyk);
  EXPECT_TRUE(header_of("tiff palette of 4 bits").palette);
  EXPECT_TRUE(header_of("tiff associated alpha uint8").alpha);
  EXPECT_FALSE(header_of("tiff unspecified uint8").alpha);
  EXPECT_TRUE(header_of("bmp alpha, header 56").alpha);
  EXPECT_TRUE(header_of("bmp grey").grey);
  EXPECT_FALSE(header_of("bmp grey").palette);
  EXPECT_EQ(header_of("pnm P5 of 4095"),
            (ImageHeader{
                .format = ImageFormat::kPnm, .width = 13, .height = 7, .bits = 16, .grey = true}));
  EXPECT_EQ(header_of("pnm P4").bits, 1);
}

// libtiff has handlers for the whole process, which print; ours are those of each file.
TEST(GoldenImages, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  ImageDecoder decoder;
  for (const GoldenImage& file : golden_images()) {
    for (std::size_t cut = 0; cut < 3; ++cut) {
      Bytes bytes = file.bytes;
      bytes.resize(bytes.size() - bytes.size() * cut / 3);
      if (bytes.size() > 60) bytes[bytes.size() / 2] ^= 0xFF;
      if (decoder.open(as_span(bytes), file.page)) (void)decoder.decode({});
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(OtherFormats, AreRefusedWithAToolThatConvertsThem) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, std::vector<const char*>> kFiles[] = {
      {"GIF89a\x01\0\x01\0"sv, {"GIF", "magick in.gif out.png"}},
      {"\0\0\0\x18"
       "ftypheic\0\0\0\0mif1heic"sv,
       {"HEIC", "heif-convert in.heic out.png"}},
      {"\0\0\0\x18"
       "ftypmif1\0\0\0\0mif1heic"sv,
       {"HEIC", "heif-convert"}},
      {"\0\0\0\x18"
       "ftypmif1\0\0\0\0avifmif1"sv,
       {"AVIF", "avifdec"}},
      {"\0\0\0\x1C"
       "ftypavif\0\0\0\0avifmif1"sv,
       {"AVIF", "avifdec in.avif out.png"}},
      {"P7\nWIDTH 2\n"sv, {"PAM", "P7", "pamtopnm"}},
      {"\0\0\0\x0CJXL \x0D\x0A\x87\x0A"sv, {"JPEG XL", "djxl"}}};
  for (const auto& [text, words] : kFiles) {
    auto header = read_image_header(std::as_bytes(std::span(text)));
    ASSERT_FALSE(header);
    for (const char* word : words) EXPECT_THAT(to_string(header.error()), HasSubstr(word));
  }
}

TEST(SniffFormat, IsNotFooledByTexts) {
  const auto format_of = [](std::string_view text) {
    return sniff_format(std::as_bytes(std::span(text)));
  };
  EXPECT_EQ(format_of("BMW and other makers of cars"), std::nullopt);
  EXPECT_EQ(format_of("P1 is the first priority"), std::nullopt);
  EXPECT_EQ(format_of("P5"), std::nullopt);
  EXPECT_EQ(format_of("P8 2 2 255 abcd"), std::nullopt);
  EXPECT_EQ(format_of("P6\n# a comment\n2 2"), ImageFormat::kPnm);
  EXPECT_EQ(format_of("P3#x\n2 2"), ImageFormat::kPnm);
}

}  // namespace
}  // namespace stoker
