#include "stoker/image/webp.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "stoker/image/decode.h"
#include "stoker/image/test_codecs.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

Image decoded(const std::vector<std::byte>& bytes) {
  ImageDecoder decoder;
  EXPECT_EQ(decoder.open(bytes).value().format, ImageFormat::kWebp);
  return Image(decoder.decode({}).value().pixels);
}

// Mean distance of two images' values.
double distance(const Image& a, const Image& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.shape().bytes(); ++i) {
    sum += std::abs(a.view().data[i] - b.view().data[i]);
  }
  return static_cast<double>(sum) / static_cast<double>(a.shape().bytes());
}

TEST(EncodeWebp, KeepsTheImageUpToASmallLoss) {
  Image image = test::pattern_image({.height = 60, .width = 90, .channels = 3});
  const Image again = decoded(encode_webp(image.view(), 100));
  ASSERT_EQ(again.shape(), image.shape());
  EXPECT_LT(distance(again, image), 12);
}

TEST(EncodeWebp, GreyBecomesGreyInColour) {
  const Image grey = test::blob(40);
  const Image again = decoded(encode_webp(grey.view()));
  ASSERT_EQ(again.shape(), (ImageShape{.height = 40, .width = 40, .channels = 3}));
  EXPECT_NEAR(again.at(20, 20, 1), grey.at(20, 20), 20);
  EXPECT_NEAR(again.at(1, 1, 0), grey.at(1, 1), 20);
}

TEST(EncodeWebp, ReadsRowsWithGaps) {
  const Image image = test::pattern_image({.height = 32, .width = 64, .channels = 3});
  const ImageView part{image.view().data, {32, 40, 3}, image.view().bytes_per_row};
  EXPECT_EQ(encode_webp(part), encode_webp(Image(part).view()));
}

TEST(EncodeWebp, RefusesSidesThatTheFormatDoesNotHave) {
  const Image image({.height = 1, .width = 16384, .channels = 3});
  const ErrorDetails error = error_of([&] { (void)encode_webp(image.view()); });
  EXPECT_NE(error.expected.find("16383"), std::string::npos) << error.expected;
}

}  // namespace
}  // namespace stoker
