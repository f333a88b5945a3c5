// A region's pixels are those of the whole image, cut: for every way to store a JPEG. PNG, WebP
// and real photographs are compared with Pillow's pixels in tests/image_test.py.
#include <string>

#include <fmt/format.h>

#include "stoker/image/test_codecs.h"

namespace stoker {
namespace {

using test::decode_all;
using test::JpegKind;
using test::make_jpeg;
using test::random_region;

// Sampling factors of the first component, most of which no usual encoder writes.
constexpr std::pair<int, int> kSamplings[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1},
                                              {1, 4}, {4, 2}, {2, 4}, {3, 1}, {3, 2}};

std::string name(const Region& r) {
  return fmt::format("region {},{} of {}x{}", r.left, r.top, r.width, r.height);
}

void expect_cut_from_whole(const Bytes& bytes, Rng& rng, int regions, const std::string& what) {
  for (const int channels : {1, 3}) {
    const Image whole = decode_all(bytes, {.channels = channels});
    for (int i = 0; i < regions; ++i) {
      const Region region = random_region(rng, whole.shape().width, whole.shape().height);
      EXPECT_EQ(decode_all(bytes, {.channels = channels, .region = region}),
                test::cut(whole, region))
          << what << ", " << name(region);
    }
  }
}

TEST(DecodeRegion, EqualsTheWholeImageForEverySampling) {
  Rng rng({.seed = 1}, 0);
  for (const auto& [h, v] : kSamplings) {
    for (const bool progressive : {false, true}) {
      const JpegKind kind{.h = h, .v = v, .progressive = progressive};
      expect_cut_from_whole(make_jpeg(150, 115, kind), rng, 40,
                            fmt::format("{}x{}, progressive {}", h, v, progressive));
    }
  }
}

TEST(DecodeRegion, EqualsTheWholeImageForGreyCmykArithmeticAndRestarts) {
  Rng rng({.seed = 2}, 0);
  for (const JpegKind& kind :
       {JpegKind{.channels = 1, .h = 1, .v = 1}, JpegKind{.channels = 1, .h = 2, .v = 2},
        JpegKind{.channels = 4, .h = 1, .v = 1}, JpegKind{.channels = 4, .h = 2, .v = 2},
        JpegKind{.arithmetic = true}, JpegKind{.progressive = true, .arithmetic = true},
        JpegKind{.restart_rows = 1}}) {
    expect_cut_from_whole(
        make_jpeg(131, 97, kind), rng, 60,
        fmt::format("{} channels, arithmetic {}", kind.channels, kind.arithmetic));
  }
}

TEST(DecodeRegion, EqualsTheWholeImageNearEveryEdge) {
  const Bytes bytes = make_jpeg(67, 51, {});
  const Image whole = decode_all(bytes);
  for (int left = 0; left < 67; ++left) {
    for (const int width : {1, 2, 16}) {
      const Region region{left, left % 51, std::min(width, 67 - left), 51 - left % 51};
      EXPECT_EQ(decode_all(bytes, {.region = region}), test::cut(whole, region)) << name(region);
    }
  }
}

// The last scans are missing, so libjpeg smooths the blocks, for which it looks further around.
TEST(DecodeRegion, EqualsTheWholeImageWhereBlocksAreSmoothed) {
  Rng rng({.seed = 3}, 0);
  const Bytes whole = make_jpeg(150, 115, {.progressive = true});
  for (const int scans : {1, 3, 5}) {
    const auto end = test::find_marker(whole, 0xDA, scans);
    ASSERT_LT(end, whole.size());
    Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(end));
    bytes.insert(bytes.end(), {0xFF, 0xD9});
    expect_cut_from_whole(bytes, rng, 40, fmt::format("{} scans", scans));
  }
}

void expect_scaled_cut(const Bytes& bytes, const Region& region, int scale) {
  ImageDecoder whole_decoder, decoder;
  const ImageHeader header = whole_decoder.open(as_span(bytes)).value();
  (void)decoder.open(as_span(bytes)).value();
  // Targets for which just this scale is chosen.
  const auto whole = whole_decoder
                         .decode({.exact = false,
                                  .target_width = header.width / scale,
                                  .target_height = header.height / scale})
                         .value();
  const auto part = decoder
                        .decode({.region = region,
                                 .exact = false,
                                 .target_width = region.width / scale,
                                 .target_height = region.height / scale})
                        .value();
  ASSERT_EQ(whole.scale, scale);
  ASSERT_EQ(part.scale, scale);
  EXPECT_EQ(part.box.width * scale, region.width);
  const Region place{.left = static_cast<int>(region.left / scale),
                     .top = static_cast<int>(region.top / scale),
                     .width = part.pixels.shape.width,
                     .height = part.pixels.shape.height};
  EXPECT_EQ((place.left + part.box.left) * scale, region.left);
  EXPECT_EQ((place.top + part.box.top) * scale, region.top);
  EXPECT_GE(place.width, part.box.left + part.box.width);
  EXPECT_LT(place.width, part.box.left + part.box.width + 1);
  EXPECT_EQ(Image(part.pixels), test::cut(Image(whole.pixels), place)) << name(region);
}

TEST(DecodeRegion, IsCutFromTheScaledImage) {
  Rng rng({.seed = 4}, 0);
  for (const auto& [h, v] : kSamplings) {
    for (const bool progressive : {false, true}) {
      const Bytes bytes = make_jpeg(403, 299, {.h = h, .v = v, .progressive = progressive});
      for (const int scale : {2, 4, 8}) {
        SCOPED_TRACE(fmt::format("{}x{}, progressive {}, scale {}", h, v, progressive, scale));
        for (int i = 0; i < 10; ++i) {
          Region region = random_region(rng, 403, 299);
          if (region.width >= scale && region.height >= scale) {
            expect_scaled_cut(bytes, region, scale);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace stoker
