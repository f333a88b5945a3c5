#include "stoker/augment/sharpness.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Sharpness, GoesAwayFromTheSmoothedPixel) {
  Image in({.height = 3, .width = 3});
  in.view().row(1)[1] = 130;  // smoothed: 5 * 130 / 13 = 50
  EXPECT_EQ(sharpness(in.view(), 0).at(1, 1), 50);
  EXPECT_EQ(sharpness(in.view(), 0.5).at(1, 1), 90);
  EXPECT_EQ(sharpness(in.view(), 1), in);
  EXPECT_EQ(sharpness(in.view(), 2).at(1, 1), 210);
  EXPECT_EQ(sharpness(in.view(), 9).at(1, 1), 255);
}

TEST(Sharpness, SmoothsEveryInnerPixelFromTheOriginal) {
  for (const int channels : {1, 3}) {
    const Image in = test::random_image({.height = 9, .width = 40, .channels = channels}, 1);
    const Image out = sharpness(in.view(), 0);
    for (int y = 1; y < 8; ++y) {
      for (int x = 1; x < 39; ++x) {
        for (int c = 0; c < channels; ++c) {
          int sum = 4 * in.at(y, x, c);
          for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) sum += in.at(y + dy, x + dx, c);
          }
          ASSERT_EQ(out.at(y, x, c), static_cast<int>(sum / 13.0 + 0.5));
        }
      }
    }
  }
}

TEST(Sharpness, LeavesTheBorderAndTinyImages) {
  const Image in = test::random_image({.height = 6, .width = 7, .channels = 3}, 1);
  const Image out = sharpness(in.view(), 0);
  for (int x = 0; x < 7; ++x) {
    EXPECT_EQ(out.at(0, x), in.at(0, x));
    EXPECT_EQ(out.at(5, x, 2), in.at(5, x, 2));
  }
  for (int y = 0; y < 6; ++y) EXPECT_EQ(out.at(y, 6, 1), in.at(y, 6, 1));
  const Image tiny = test::random_image({.height = 2, .width = 9}, 1);
  EXPECT_EQ(sharpness(tiny.view(), 0), tiny);
}

TEST(Sharpness, RefusesNegativeFactors) {
  EXPECT_THROW(static_cast<void>(sharpness(Image({.height = 3, .width = 3}).view(), -1)), Error);
}

}  // namespace
}  // namespace stoker
