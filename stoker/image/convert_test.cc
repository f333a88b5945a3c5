#include "stoker/image/convert.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/image/png.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

Image decoded_png(const ImageView& image, const DecodeOptions& options) {
  const std::vector<std::byte> file = encode_png(image);
  ImageDecoder decoder;
  static_cast<void>(decoder.open(file).value());
  return Image(ImageView(decoder.decode(options).value().pixels));
}

TEST(ConvertPixels, EqualsDecodingAFileOfThem) {
  for (const int from : {1, 3}) {
    const Image image = test::random_image({.height = 5, .width = 7, .channels = from}, 3);
    for (const int to : {1, 3, 4}) {
      for (const int depth : {8, 16}) {
        DecodeOptions options{.channels = to, .depth = depth};
        if (depth == 16) options.window = ValueWindow{.low = 3000, .high = 50'000};
        Image converted;
        convert_pixels(converted, image.view(), options);
        EXPECT_EQ(converted, decoded_png(image.view(), options)) << from << to << depth;
      }
    }
  }
}

TEST(ConvertPixels, LaysTransparencyOverTheBackground) {
  Image image({.height = 1, .width = 2, .channels = 4});
  const std::uint8_t values[] = {10, 20, 30, 255, 10, 20, 30, 0};
  std::copy(std::begin(values), std::end(values), image.view().data);
  Image converted;
  convert_pixels(converted, image.view(), {.channels = 3, .background = {200, 100, 50}});
  EXPECT_EQ(converted.at(0, 0, 2), 30);
  EXPECT_EQ(converted.at(0, 1, 0), 200);
  EXPECT_EQ(converted.at(0, 1, 2), 50);
}

TEST(ConvertPixels, ReadsRowsWithGaps) {
  const Image image = test::random_image({.height = 4, .width = 6, .channels = 3}, 8);
  ImageView part = image.view();
  part.shape.width = 2;
  Image converted;
  convert_pixels(converted, part, {.channels = 3});
  EXPECT_EQ(converted.at(3, 1, 2), image.at(3, 1, 2));
  EXPECT_EQ(converted.shape().width, 2);
}

TEST(ConvertPixels, RefusesOtherShapes) {
  Image out;
  const std::uint8_t pixel[4] = {};
  const ImageShape two_channels{.height = 1, .width = 1, .channels = 2};
  EXPECT_THROW(convert_pixels(out, {pixel, two_channels, 2}, {}), Error);
  const ImageShape wide{.height = 1, .width = 1, .channels = 1, .depth = 16};
  EXPECT_THROW(convert_pixels(out, {pixel, wide, 2}, {}), Error);
}

}  // namespace
}  // namespace stoker
