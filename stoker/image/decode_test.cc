#include "stoker/image/decode.h"

#include <algorithm>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <zlib.h>

#include "stoker/core/sanitizers.h"
#include "stoker/image/test_codecs.h"

namespace stoker {
namespace {

using test::decode_all;
using test::decode_or_none;
using test::make_jpeg;
using test::make_png;
using test::make_webp;
using testing::HasSubstr;

// One file of each kind, small.
std::vector<Bytes> some_files() {
  return {make_jpeg(50, 40, {}),
          make_jpeg(50, 40, {.progressive = true}),
          make_jpeg(50, 40, {.channels = 1, .h = 1, .v = 1}),
          make_png({40, 50, 3}),
          make_png({40, 50, 1}),
          make_webp(50, 40, false),
          make_webp(50, 40, true)};
}

TEST(ImageDecoder, TellsTheFormatByTheFirstBytes) {
  EXPECT_EQ(sniff_format(as_span(make_jpeg(8, 8, {}))), ImageFormat::kJpeg);
  EXPECT_EQ(sniff_format(as_span(make_png({8, 8, 3}))), ImageFormat::kPng);
  EXPECT_EQ(sniff_format(as_span(make_webp(8, 8, true))), ImageFormat::kWebp);
  EXPECT_EQ(sniff_format(as_span({'G', 'I', 'F', '8', '9', 'a'})), std::nullopt);
  EXPECT_EQ(sniff_format({}), std::nullopt);
}

TEST(ImageDecoder, ReadsHeaders) {
  EXPECT_EQ(read_image_header(as_span(make_jpeg(50, 40, {.progressive = true}))).value(),
            (ImageHeader{.width = 50, .height = 40, .progressive = true}));
  EXPECT_EQ(read_image_header(as_span(make_jpeg(9, 7, {.channels = 4}))).value(),
            (ImageHeader{.width = 9, .height = 7, .cmyk = true}));
  EXPECT_EQ(read_image_header(as_span(make_png({40, 50, 1}))).value(),
            (ImageHeader{.format = ImageFormat::kPng, .width = 50, .height = 40, .grey = true}));
  EXPECT_EQ(read_image_header(as_span(make_webp(50, 40, false))).value(),
            (ImageHeader{.format = ImageFormat::kWebp, .width = 50, .height = 40}));
}

TEST(ImageDecoder, GivesBackWhatWasStoredWithoutLoss) {
  const Image expected = test::pattern_image({40, 50, 3});
  EXPECT_EQ(decode_all(make_png({40, 50, 3})), expected);
  EXPECT_EQ(decode_all(make_webp(50, 40, true)), expected);
  EXPECT_EQ(decode_all(make_png({40, 50, 1}), {.channels = 1}), test::pattern_image({40, 50, 1}));
}

TEST(ImageDecoder, NamesWhatIsNoImage) {
  auto nothing = read_image_header({});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().found, "an empty file");
  auto text = read_image_header(as_span({'h', 'e', 'l', 'l', 'o'}));
  ASSERT_FALSE(text);
  EXPECT_THAT(to_string(text.error()), HasSubstr("JPEG, PNG, WebP, TIFF, BMP or PNM"));
}

// Whichever byte is the last one: no file of these is complete without its own last byte.
TEST(ImageDecoder, RefusesEveryFileThatIsCutShort) {
  ImageDecoder decoder;
  for (const Bytes& whole : some_files()) {
    ASSERT_TRUE(decode_or_none(decoder, whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(decode_or_none(decoder, part)) << size << " of " << whole.size() << " bytes";
    }
  }
}

TEST(ImageDecoder, SaysWhereAFileIsCut) {
  Bytes jpeg = make_jpeg(50, 40, {});
  jpeg.erase(jpeg.end() - 10, jpeg.end());
  auto header = read_image_header(as_span(jpeg));
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().offset, jpeg.size());
  EXPECT_THAT(header.error().found, HasSubstr("cut short"));
  EXPECT_TRUE(header.error().path.empty());
}

TEST(ImageDecoder, RefusesSizesBeyondTheLimitsFromTheHeader) {
  for (const Bytes& bytes : some_files()) {
    EXPECT_TRUE(read_image_header(as_span(bytes), {.max_side = 50, .max_pixels = 2000}));
    auto wide = read_image_header(as_span(bytes), {.max_side = 49});
    ASSERT_FALSE(wide);
    EXPECT_THAT(to_string(wide.error()), HasSubstr("got 50x40"));
    EXPECT_FALSE(read_image_header(as_span(bytes), {.max_pixels = 1999}));
  }
}

TEST(ImageDecoder, StopsAtTheLimitOfScans) {
  const Bytes bytes = make_jpeg(50, 40, {.progressive = true});
  ImageDecoder strict({.max_scans = 3}), usual;
  ASSERT_TRUE(strict.open(as_span(bytes)));
  auto image = strict.decode({});
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().found, HasSubstr("scans"));
  EXPECT_TRUE(decode_or_none(usual, bytes));
}

// libjpeg keeps tables for streams of images that share them; a file must not get another file's.
TEST(ImageDecoder, UsesNoTablesOfTheFileBefore) {
  const Bytes whole = make_jpeg(50, 40, {});
  const Bytes without_quantisation = test::without_segments(whole, 0xDB);
  ASSERT_LT(without_quantisation.size(), whole.size());
  ImageDecoder decoder;
  EXPECT_TRUE(decode_or_none(decoder, whole));
  EXPECT_FALSE(decode_or_none(decoder, without_quantisation));
  EXPECT_TRUE(decode_or_none(decoder, whole));
}

// Motion JPEG: the standard's own Huffman tables are meant, which are those of our encoder.
TEST(ImageDecoder, KnowsTheStandardHuffmanTables) {
  const Bytes whole = make_jpeg(50, 40, {});
  EXPECT_EQ(decode_all(test::without_segments(whole, 0xC4)), decode_all(whole));
}

TEST(ImageDecoder, ToleratesStrayBytesBetweenSegments) {
  Bytes bytes = make_jpeg(50, 40, {});
  const Image expected = decode_all(bytes);
  const auto at = static_cast<std::ptrdiff_t>(test::find_marker(bytes, 0xDB));
  bytes.insert(bytes.begin() + at, {1, 2, 3});
  ImageDecoder decoder;
  ASSERT_TRUE(decoder.open(as_span(bytes)));
  auto image = decoder.decode({});
  ASSERT_TRUE(image);
  EXPECT_GT(image->tolerated, 0);
  EXPECT_EQ(Image(image->pixels), expected);
}

TEST(ImageDecoder, IsUnchangedByFilesThatItRefused) {
  ImageDecoder decoder;
  const std::vector<Bytes> files = some_files();
  for (const Bytes& bytes : files) {
    const Image expected = decode_all(bytes);
    for (Bytes damaged : files) {
      for (std::size_t i = damaged.size() / 2; i < damaged.size(); ++i) damaged[i] = 0xFF;
      EXPECT_FALSE(decode_or_none(decoder, damaged));
      EXPECT_EQ(decode_or_none(decoder, bytes), expected);
    }
  }
}

TEST(ImageDecoder, KeepsItsMemory) {
  ImageDecoder decoder;
  const Bytes large = make_jpeg(300, 200, {}), small = make_jpeg(50, 40, {});
  (void)decoder.open(as_span(large)).value();
  const std::uint8_t* first = decoder.decode({}).value().pixels.data;
  for (const Bytes& bytes : {small, large}) {
    (void)decoder.open(as_span(bytes)).value();
    EXPECT_EQ(decoder.decode({}).value().pixels.data, first);
  }
}

TEST(ImageDecoder, DemandsAnOpenFileAndARegionInsideIt) {
  const Bytes bytes = make_png({40, 50, 3});
  ImageDecoder decoder;
  EXPECT_THROW((void)decoder.decode({}), InvariantError);
  for (const Region& region : {Region{1, 0, 50, 40}, {0, 0, 50, 41}, {-1, 0, 5, 5}, {0, 0, 0, 5}}) {
    (void)decoder.open(as_span(bytes)).value();
    EXPECT_THROW((void)decoder.decode({.region = region}), InvariantError);
  }
  (void)decoder.open(as_span(bytes)).value();
  (void)decoder.decode({}).value();
  EXPECT_THROW((void)decoder.decode({}), InvariantError) << "once for each open()";
}

TEST(ImageDecoder, ScalesOnlyWhereAskedAndLargeEnough) {
  const Bytes jpeg = make_jpeg(400, 320, {});
  const auto scale_for = [](const Bytes& bytes, const DecodeOptions& options) {
    ImageDecoder decoder;
    (void)decoder.open(as_span(bytes)).value();
    return decoder.decode(options).value().scale;
  };
  EXPECT_EQ(scale_for(jpeg, {.exact = false, .target_width = 50, .target_height = 40}), 8);
  EXPECT_EQ(scale_for(jpeg, {.exact = false, .target_width = 51, .target_height = 40}), 4);
  EXPECT_EQ(scale_for(jpeg, {.exact = false, .target_width = 200, .target_height = 160}), 2);
  EXPECT_EQ(scale_for(jpeg, {.exact = false, .target_width = 201, .target_height = 100}), 1);
  EXPECT_EQ(scale_for(jpeg, {.exact = true, .target_width = 50, .target_height = 40}), 1);
  EXPECT_EQ(scale_for(jpeg, {.exact = false}), 1);
  EXPECT_EQ(
      scale_for(make_png({320, 400, 3}), {.exact = false, .target_width = 50, .target_height = 40}),
      1);
}

TEST(ImageDecoder, RefusesTwoColourComponents) {
  Bytes jpeg = make_jpeg(50, 40, {.channels = 1, .h = 1, .v = 1});
  const std::size_t frame = test::find_marker(jpeg, 0xC0);
  ASSERT_LT(frame, jpeg.size());
  jpeg[frame + 3] = 14;  // bytes of the frame's header
  jpeg[frame + 9] = 2;   // components
  jpeg.insert(jpeg.begin() + static_cast<std::ptrdiff_t>(frame) + 13, {2, 0x11, 0});
  auto header = read_image_header(as_span(jpeg));
  ASSERT_FALSE(header);
  EXPECT_THAT(to_string(header.error()), HasSubstr("2 colour components"));
}

// More than all addresses of a process. Sanitizers end the program instead.
#if !STOKER_ASAN && !STOKER_TSAN
TEST(ImageDecoder, SaysForWhichSizeThereIsNoMemory) {
  Bytes png = make_png({8, 8, 3});
  const Bytes sides = {0, 0, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF};
  std::copy(sides.begin(), sides.end(), png.begin() + 16);
  const auto checksum = crc32(0, &png[12], 17);  // of the header's name and content
  for (std::size_t i = 0; i < 4; ++i) {
    png[29 + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
  }
  ImageDecoder decoder({.max_side = std::numeric_limits<int>::max(),
                        .max_pixels = std::numeric_limits<std::int64_t>::max()});
  ASSERT_TRUE(decoder.open(as_span(png)));
  auto image = decoder.decode({});
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().what, "no memory for an image of 65535x2147483647");
}
#endif

}  // namespace
}  // namespace stoker
