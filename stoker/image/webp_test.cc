#include "stoker/image/webp.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

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

void put_chunk(Bytes& file, std::string_view name, const Bytes& content) {
  file.insert(file.end(), name.begin(), name.end());
  for (int shift = 0; shift < 32; shift += 8) {
    file.push_back(static_cast<std::uint8_t>(content.size() >> shift));
  }
  file.insert(file.end(), content.begin(), content.end());
}

// An animation of one frame, the pattern of 50x40 pixels without loss. Its data begins at kFrame.
constexpr std::size_t kFrame = 76;
Bytes animated_pattern() {
  const Bytes still = test::make_webp(50, 40, true);
  Bytes frame = {0, 0, 0, 0, 0, 0, 49, 0, 0, 39, 0, 0, 100, 0, 0, 0};  // place, size, milliseconds
  frame.insert(frame.end(), still.begin() + 12, still.end());
  Bytes content = {'W', 'E', 'B', 'P'};
  put_chunk(content, "VP8X", {2, 0, 0, 0, 49, 0, 0, 39, 0, 0});  // 2: animated
  put_chunk(content, "ANIM", {0, 0, 0, 0, 0, 0});
  put_chunk(content, "ANMF", frame);
  Bytes file;
  put_chunk(file, "RIFF", content);
  return file;
}

TEST(DecodeWebp, OfAnAnimationTheFirstImageIsTaken) {
  const Bytes file = animated_pattern();
  EXPECT_TRUE(read_image_header(as_span(file)).value().animated);
  EXPECT_EQ(test::decode_all(file), test::pattern_image({40, 50, 3}));
}

TEST(DecodeWebp, RefusesAnAnimationWhoseFirstImageIsDamaged) {
  for (const std::size_t from : {kFrame, kFrame + 5}) {  // its header, and what follows
    Bytes file = animated_pattern();
    ASSERT_EQ(file[kFrame], 0x2F);
    std::fill(file.begin() + static_cast<std::ptrdiff_t>(from), file.end(), std::uint8_t{0xFF});
    ImageDecoder decoder;
    ASSERT_TRUE(decoder.open(as_span(file)));
    auto image = decoder.decode({});
    ASSERT_FALSE(image) << from;
    EXPECT_EQ(image.error().found, "an animation whose first image is damaged") << from;
  }
}

}  // namespace
}  // namespace stoker
