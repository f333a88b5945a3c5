// A JPEG that was made for decoding in parts has the pixels of the one it was made from, whole, in
// part and at every scale; what was damaged or made by somebody else is no part of another image.
#include "stoker/image/jpeg_index.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "stoker/image/detail/jpeg_parts.h"
#include "stoker/image/test_codecs.h"

namespace stoker {
namespace {

using test::JpegKind;
using test::make_jpeg;
using test::random_region;

Bytes bytes_of(std::span<const std::byte> bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

Bytes indexed(const Bytes& jpeg) {
  const auto found = indexed_jpeg(as_span(jpeg));
  EXPECT_TRUE(found.has_value());
  return found ? bytes_of(*found) : Bytes{};
}

struct Decoded {
  Image pixels;
  RegionF box;
  bool operator==(const Decoded&) const = default;
};

Decoded decoded(const Bytes& bytes, const DecodeOptions& options) {
  ImageDecoder decoder;
  (void)decoder.open(as_span(bytes)).value();
  const DecodedImage image = decoder.decode(options).value();
  return {Image(image.pixels), image.box};
}

void expect_same(const Bytes& jpeg, const Bytes& other, int regions, Rng& rng,
                 const std::string& what) {
  const ImageHeader header = read_image_header(as_span(jpeg)).value();
  for (int i = 0; i < regions; ++i) {
    const Region region = random_region(rng, header.width, header.height);
    for (const int scale : {1, 2, 4, 8}) {
      const DecodeOptions options{
          .channels = i % 2 == 0 ? 3 : 1, .region = region, .exact = false, .scale = scale};
      ASSERT_TRUE(decoded(jpeg, options) == decoded(other, options))
          << what << ", scale " << scale << ", " << region.left << "," << region.top << " "
          << region.width << "x" << region.height;
    }
  }
}

TEST(IndexedJpeg, HasTheSamePixelsForEverySamplingAndKind) {
  Rng rng({.seed = 1}, 0);
  for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}, {3, 2}}) {
    for (const int channels : {1, 3, 4}) {
      if (h * v + channels - 1 > 10) continue;  // blocks of a unit, by the standard
      for (const bool progressive : {false, true}) {
        const JpegKind kind{.channels = channels, .h = h, .v = v, .progressive = progressive};
        const Bytes jpeg = make_jpeg(203, 149, kind);
        expect_same(jpeg, indexed(jpeg), 6, rng, fmt::format("{}x{}, {}", h, v, channels));
      }
    }
  }
}

TEST(IndexedJpeg, HasTheSamePixelsAtAnEighthFromTheAppendedOne) {
  Rng rng({.seed = 2}, 0);
  for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
    const Bytes jpeg = make_jpeg(1283, 841, {.h = h, .v = v});
    const Bytes made = indexed(jpeg);
    EXPECT_FALSE(detail::eighth_of(as_span(made)).empty());
    EXPECT_LT(detail::eighth_of(as_span(made)).size(), jpeg.size() / 2);
    expect_same(jpeg, made, 8, rng, fmt::format("{}x{}", h, v));
  }
}

TEST(IndexedJpeg, ReadsOnlyTheIntervalsOfTheRegion) {
  const Bytes jpeg = indexed(make_jpeg(512, 512, {}));
  detail::JpegParts parts;
  const auto part = parts.find(as_span(jpeg), {200, 200, 64, 64}, 1, 4);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->left, 192);
  EXPECT_EQ(part->top, 192);
  EXPECT_EQ(part->width, 128);  // intervals of four units of 16 pixels
  EXPECT_EQ(part->height, 80);
  EXPECT_LT(part->bytes.size(), jpeg.size() / 8);
  EXPECT_FALSE(parts.find(as_span(jpeg), {0, 0, 512, 512}, 1, 4).has_value());
  EXPECT_FALSE(parts.find(as_span(make_jpeg(512, 512, {})), {200, 200, 64, 64}, 1, 4).has_value());
}

TEST(IndexedJpeg, ReadsPartsOfFilesOfOthersWithRestartMarkersToo) {
  Rng rng({.seed = 3}, 0);
  const Bytes jpeg = make_jpeg(320, 240, {.restart_rows = 1});
  detail::JpegParts parts;
  EXPECT_TRUE(parts.find(as_span(jpeg), {0, 200, 32, 32}, 1, 4).has_value());
  expect_same(make_jpeg(320, 240, {}), jpeg, 30, rng, "restart rows");
}

TEST(IndexedJpeg, KeepsMetadata) {
  Bytes jpeg = make_jpeg(300, 200, {});
  // EXIF's orientation 6, and a comment.
  const Bytes exif = {0xFF, 0xE1, 0,    34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', '*', 0, 8, 0, 0, 0,
                      1,    0,    0x12, 1,  3,   0,   1,   0,   0, 0, 6,   0,   0,   0, 0, 0, 0, 0};
  const Bytes comment = {0xFF, 0xFE, 0, 7, 'h', 'e', 'l', 'l', 'o'};
  jpeg.insert(jpeg.begin() + 2, comment.begin(), comment.end());
  jpeg.insert(jpeg.begin() + 2, exif.begin(), exif.end());
  ASSERT_EQ(read_image_header(as_span(jpeg)).value().orientation, 6);
  const Bytes made = indexed(jpeg);
  EXPECT_EQ(read_image_header(as_span(made)).value(), read_image_header(as_span(jpeg)).value());
  EXPECT_NE(std::search(made.begin(), made.end(), comment.begin(), comment.end()), made.end());
  Rng rng({.seed = 4}, 0);
  expect_same(jpeg, made, 20, rng, "turned");
}

TEST(IndexedJpeg, OfItselfIsTheSame) {
  for (const auto& [width, height] : {std::pair{300, 200}, {1283, 841}}) {
    const Bytes once = indexed(make_jpeg(width, height, {}));
    EXPECT_EQ(indexed(once), once);
  }
}

TEST(IndexedJpeg, IsNothingForWhatIsDamagedOrNoJpeg) {
  Bytes jpeg = make_jpeg(300, 200, {});
  EXPECT_FALSE(indexed_jpeg(as_span(test::make_png({20, 20, 3}))).has_value());
  jpeg.resize(jpeg.size() / 2);
  EXPECT_FALSE(indexed_jpeg(as_span(jpeg)).has_value());
  jpeg.insert(jpeg.end(), {0xFF, 0xD9});
  EXPECT_FALSE(indexed_jpeg(as_span(jpeg)).has_value());
  EXPECT_FALSE(indexed_jpeg({}).has_value());
}

// Found while it is written, when there are bytes already: of a comment, longer than any buffer.
TEST(IndexedJpeg, IsNothingForCoefficientsThatNoBaselineImageHas) {
  Bytes jpeg = make_jpeg(300, 200, {.progressive = true});
  const std::size_t scan = test::find_marker(jpeg, 0xDA);
  const std::size_t data = scan + 2 + (jpeg[scan + 2] << 8 | jpeg[scan + 3]);
  jpeg[data - 1] = 8;  // of DC, all but the last 8 bits: they become 256 times as large
  jpeg.resize(test::find_marker(jpeg, 0xC4, 2));  // the table behind the first scan
  jpeg.insert(jpeg.end(), {0xFF, 0xD9});
  Bytes comments;
  for (int i = 0; i < 8; ++i) {
    comments.insert(comments.end(), {0xFF, 0xFE, 0x4E, 0x22});
    comments.resize(comments.size() + 20'000, 'x');
  }
  jpeg.insert(jpeg.begin() + 2, comments.begin(), comments.end());
  EXPECT_TRUE(read_image_header(as_span(jpeg)).has_value());
  EXPECT_FALSE(indexed_jpeg(as_span(jpeg)).has_value());
}

// What follows the end of the image may be anybody's.
TEST(IndexedJpeg, IgnoresAnAppendedOneThatDoesNotFit) {
  const Bytes jpeg = make_jpeg(1283, 841, {});
  const DecodeOptions options{.exact = false, .scale = 8};
  const Decoded right = decoded(jpeg, options);
  const auto made = indexed_jpeg(as_span(jpeg)).value();
  const auto eighth = detail::eighth_of(made);
  std::vector<std::byte> file(made.begin(),
                              made.end() - static_cast<std::ptrdiff_t>(eighth.size() + 16));
  const auto with = [&file](const Bytes& appended) {
    std::vector<std::byte> whole = file;
    detail::append_eighth(whole, as_span(appended));
    return bytes_of(whole);
  };
  const Bytes cut = [&] {
    Bytes half = bytes_of(eighth);
    half.resize(half.size() / 2);
    return half;
  }();
  for (const Bytes& appended :
       {Bytes{}, Bytes{1, 2, 3}, cut, make_jpeg(1283, 840, {}),
        make_jpeg(1283, 841, {.channels = 1}), test::make_png({841, 1283, 3})}) {
    EXPECT_TRUE(decoded(with(appended), options) == right) << appended.size() << " bytes";
  }
  for (std::size_t i = 1; i <= 8; ++i) {  // a length beyond the file
    Bytes lying = bytes_of(made);
    lying[lying.size() - i] = 0xFF;
    EXPECT_TRUE(decoded(lying, options) == right);
  }
}

// To libjpeg, FF FF E2 is a fill byte and an APP2. Taken for a marker FF with a length of E2 00, it
// leads to another header than libjpeg's.
Bytes with_two_headers(const Bytes& of_libjpeg, const Bytes& other) {
  Bytes bytes = {0xFF, 0xD8, 0xFF, 0xFF, 0xE2, 0, 2};
  bytes.insert(bytes.end(), of_libjpeg.begin() + 2, of_libjpeg.end());
  EXPECT_LT(bytes.size(), 0xE204U);
  bytes.resize(0xE204);
  bytes.insert(bytes.end(), other.begin() + 2, other.end());
  return bytes;
}

TEST(IndexedJpeg, HasOneHeader) {
  const Bytes jpeg = make_jpeg(1283, 841, {});
  std::vector<std::byte> file = indexed_jpeg(as_span(jpeg)).value();
  // Only 16 pixels wide: what is read of its rows beyond that would be read beyond their memory.
  const Bytes lying = with_two_headers(make_jpeg(16, 841, {}), jpeg);
  EXPECT_FALSE(detail::jpeg_layout(as_span(lying)).has_value());
  detail::append_eighth(file, as_span(lying));
  const DecodeOptions options{.exact = false, .scale = 8};
  EXPECT_TRUE(decoded(bytes_of(file), options) == decoded(jpeg, options));
}

TEST(IndexedJpeg, IsNoPartOfAnImageThatTheRegionLiesBeside) {
  detail::JpegParts parts;
  const Bytes jpeg = make_jpeg(64, 64, {.restart_rows = 1});
  EXPECT_FALSE(parts.find(as_span(jpeg), {1000, 10, 100, 100}, 1, 4).has_value());
}

// Damage in front of the region is not read, damage in it is an error with the file's own offset.
TEST(IndexedJpeg, DamagedWithinTheRegionIsTheErrorOfTheWholeFile) {
  Bytes jpeg = indexed(make_jpeg(512, 512, {}));
  const auto layout = detail::jpeg_layout(as_span(jpeg)).value();
  std::vector<std::size_t> marks;
  for (std::size_t i = layout.scan; i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xFF && jpeg[i + 1] >= 0xD0 && jpeg[i + 1] <= 0xD7) marks.push_back(i);
  }
  ASSERT_EQ(marks.size(), 32U * 8 - 1);
  // An interval without its last bytes ends too early.
  jpeg.erase(jpeg.begin() + static_cast<std::ptrdiff_t>(marks[100]) - 6,
             jpeg.begin() + static_cast<std::ptrdiff_t>(marks[100]));
  ImageDecoder decoder;
  (void)decoder.open(as_span(jpeg)).value();
  const auto damaged = decoder.decode({.region = Region{0, 0, 512, 512}});
  ASSERT_FALSE(damaged.has_value());
  (void)decoder.open(as_span(jpeg)).value();
  const auto in_part = decoder.decode({.region = Region{256, 192, 128, 20}});
  ASSERT_FALSE(in_part.has_value());
  EXPECT_EQ(in_part.error().offset, damaged.error().offset);
  (void)decoder.open(as_span(jpeg)).value();
  EXPECT_TRUE(decoder.decode({.region = Region{0, 400, 64, 64}}).has_value());
}

}  // namespace
}  // namespace stoker
