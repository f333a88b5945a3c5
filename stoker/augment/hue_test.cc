#include "stoker/augment/hue.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

std::vector<int> turned(std::uint8_t red, std::uint8_t green, std::uint8_t blue, double shift) {
  Image image({.height = 1, .width = 1, .channels = 3});
  const std::uint8_t colour[] = {red, green, blue};
  std::copy_n(colour, 3, image.view().data);
  const Image out = hue(image.view(), shift);
  return {out.at(0, 0, 0), out.at(0, 0, 1), out.at(0, 0, 2)};
}

// 255 steps make the circle, so half of it is 127 steps and not quite the opposite.
TEST(Hue, TurnsRedToCyanAndGreenToMagenta) {
  EXPECT_EQ(turned(255, 0, 0, 0.5), (std::vector<int>{0, 255, 252}));
  EXPECT_EQ(turned(255, 0, 0, 1.0 / 3), (std::vector<int>{0, 255, 0}));
  EXPECT_EQ(turned(255, 0, 0, -1.0 / 3), (std::vector<int>{6, 0, 255}));
}

TEST(Hue, LeavesGreysAndGreyImagesAsTheyAre) {
  EXPECT_EQ(turned(77, 77, 77, 0.4), (std::vector<int>{77, 77, 77}));
  const Image in = test::random_image({.height = 5, .width = 8}, 1);
  EXPECT_EQ(hue(in.view(), 0.2), in);
}

TEST(Hue, KeepsTheLargestAndNearlyTheSmallestValue) {
  const Image in = test::random_image({.height = 40, .width = 40, .channels = 3}, 1);
  const Image out = hue(in.view(), 0.21);
  for (int i = 0; i < 1600; ++i) {
    const std::uint8_t *a = in.view().data + 3 * i, *b = out.view().data + 3 * i;
    ASSERT_EQ(*std::max_element(a, a + 3), *std::max_element(b, b + 3));
    ASSERT_NEAR(*std::min_element(a, a + 3), *std::min_element(b, b + 3), 1);
  }
}

TEST(Hue, RefusesMoreThanHalfATurn) {
  const Image in({.height = 1, .width = 1, .channels = 3});
  EXPECT_THROW(static_cast<void>(hue(in.view(), 0.51)), Error);
  EXPECT_THROW(static_cast<void>(hue(in.view(), -0.51)), Error);
}

}  // namespace
}  // namespace stoker
