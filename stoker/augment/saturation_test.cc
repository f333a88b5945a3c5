#include "stoker/augment/saturation.h"

#include <gtest/gtest.h>

#include "stoker/augment/greyscale.h"
#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

Image one_pixel(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  Image image({.height = 1, .width = 1, .channels = 3});
  image.view().data[0] = red;
  image.view().data[1] = green;
  image.view().data[2] = blue;
  return image;
}

TEST(Saturation, GoesAwayFromThePixelsLuma) {
  const Image in = one_pixel(200, 100, 50);  // luma 59.8 + 58.7 + 5.7 = 124
  EXPECT_EQ(saturation(in.view(), 0.5), one_pixel(162, 112, 87));
  EXPECT_EQ(saturation(in.view(), 2), one_pixel(255, 76, 0));
  EXPECT_EQ(saturation(in.view(), 1), in);
}

TEST(Greyscale, GivesThreeEqualChannels) {
  EXPECT_EQ(greyscale(one_pixel(200, 100, 50).view()), one_pixel(124, 124, 124));
  EXPECT_EQ(greyscale(one_pixel(0, 0, 255).view()), one_pixel(29, 29, 29));
}

TEST(Saturation, LeavesGreyImagesAsTheyAre) {
  const Image in = test::random_image({.height = 5, .width = 8}, 1);
  EXPECT_EQ(saturation(in.view(), 0.3), in);
  EXPECT_EQ(greyscale(in.view()), in);
}

TEST(Saturation, RefusesNegativeFactors) {
  EXPECT_THROW(static_cast<void>(saturation(one_pixel(1, 2, 3).view(), -1)), Error);
}

}  // namespace
}  // namespace stoker
