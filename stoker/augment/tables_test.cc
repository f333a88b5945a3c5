// The operations that are tables: solarize, posterize, invert, autocontrast, equalize.
#include <vector>

#include <gtest/gtest.h>

#include "stoker/augment/autocontrast.h"
#include "stoker/augment/equalize.h"
#include "stoker/augment/invert.h"
#include "stoker/augment/policy.h"
#include "stoker/augment/posterize.h"
#include "stoker/augment/solarize.h"
#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

Image row_of(const std::vector<int>& values, int channels = 1) {
  Image image(
      {.height = 1, .width = static_cast<int>(values.size()) / channels, .channels = channels});
  for (std::size_t i = 0; i < values.size(); ++i) {
    image.view().data[i] = static_cast<std::uint8_t>(values[i]);
  }
  return image;
}

TEST(Solarize, InvertsFromTheThresholdOn) {
  EXPECT_EQ(solarize(row_of({0, 127, 128, 255}).view(), 128), row_of({0, 127, 127, 0}));
  EXPECT_EQ(solarize(row_of({0, 127, 128}).view(), 127.5), row_of({0, 127, 127}));
  EXPECT_EQ(solarize(row_of({0, 255}).view(), 256), row_of({0, 255}));
  EXPECT_EQ(solarize(row_of({0, 255}).view(), 0), row_of({255, 0}));
  EXPECT_THROW(static_cast<void>(solarize(row_of({0}).view(), -1)), Error);
}

TEST(Posterize, KeepsTheHighestBits) {
  EXPECT_EQ(posterize(row_of({0, 127, 128, 255}).view(), 1), row_of({0, 0, 128, 128}));
  EXPECT_EQ(posterize(row_of({37, 255}).view(), 4), row_of({32, 240}));
  EXPECT_EQ(posterize(row_of({37, 255}).view(), 8), row_of({37, 255}));
  EXPECT_EQ(posterize(row_of({37, 255}).view(), 0), row_of({0, 0}));
  EXPECT_THROW(static_cast<void>(posterize(row_of({0}).view(), 9)), Error);
  EXPECT_THROW(static_cast<void>(posterize(row_of({0}).view(), -1)), Error);
  EXPECT_THROW(static_cast<void>(Policy::parse("posterize(2.5)")), Error);
}

TEST(Invert, IsTheNegative) {
  EXPECT_EQ(invert(row_of({0, 1, 128, 255}).view()), row_of({255, 254, 127, 0}));
}

TEST(Autocontrast, StretchesEachChannel) {
  EXPECT_EQ(autocontrast(row_of({50, 60, 101}).view()), row_of({0, 50, 255}));
  EXPECT_EQ(autocontrast(row_of({10, 7, 0, 20, 7, 128, 30, 7, 255}, 3).view()),
            row_of({0, 7, 0, 127, 7, 128, 255, 7, 255}, 3));
}

TEST(Autocontrast, FindsTheExtremesAnywhere) {
  for (int place = 0; place < 131; ++place) {
    for (const int channels : {1, 3}) {
      Image in({.height = 1, .width = 131, .channels = channels});
      std::fill_n(in.view().data, in.shape().bytes(), std::uint8_t{100});
      in.view().data[(place + 1) % 131 * channels] = 50;
      in.view().data[place * channels] = 200;
      const Image out = autocontrast(in.view());
      ASSERT_EQ(out.at(0, place), 255);
      ASSERT_EQ(out.at(0, (place + 1) % 131), 0);
    }
  }
}

TEST(Equalize, SpreadsValuesByTheirRank) {
  // 512 pixels: 256 of 10, 128 of 20, 128 of 200; step (512 - 128) / 255 = 1.
  Image in({.height = 16, .width = 32});
  for (int i = 0; i < 512; ++i) {
    in.view().data[i] = static_cast<std::uint8_t>(i < 256 ? 10 : i < 384 ? 20 : 200);
  }
  const Image out = equalize(in.view());
  EXPECT_EQ(out.view().data[0], 0);
  EXPECT_EQ(out.view().data[300], 255);  // 256, which is cut
  EXPECT_EQ(out.view().data[511], 255);
}

TEST(Equalize, LeavesFewPixelsAndOneColourAsTheyAre) {
  EXPECT_EQ(equalize(row_of({1, 2, 3}).view()), row_of({1, 2, 3}));
  EXPECT_EQ(equalize(Image({.height = 30, .width = 30, .channels = 3}).view()),
            Image({.height = 30, .width = 30, .channels = 3}));
}

TEST(Equalize, MakesTheValuesOfAChannelEven) {
  Image in = test::random_image({.height = 100, .width = 100, .channels = 3}, 1);
  for (std::size_t i = 0; i < in.shape().bytes(); i += 3) in.view().data[i] /= 4;  // dark reds
  const Image out = equalize(in.view());
  int bright = 0;
  for (std::size_t i = 0; i < in.shape().bytes(); i += 3) bright += out.view().data[i] >= 128;
  EXPECT_NEAR(bright, 5000, 300);
}

}  // namespace
}  // namespace stoker
