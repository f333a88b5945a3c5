#include "stoker/augment/shear.h"

#include <gtest/gtest.h>

#include "stoker/augment/translate.h"
#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Shear, MovesRowsFromTheCornerOn) {
  for (const int channels : {1, 3}) {
    const Image in = test::random_image({.height = 9, .width = 30, .channels = channels}, 1);
    const Image out = shear_x(in.view(), 2);  // row y moves 2 y + 1 to the left
    for (int y = 0; y < 9; ++y) {
      for (int x = 0; x < 30; ++x) {
        const int from = x + 2 * y + 1;
        ASSERT_EQ(out.at(y, x), from < 30 ? in.at(y, from) : 0);
      }
    }
  }
}

TEST(Shear, OfColumnsIsTheSameTurned) {
  const Image in = test::random_image({.height = 30, .width = 9}, 1);
  const Image out = shear_y(in.view(), -2);
  EXPECT_EQ(out.at(20, 3), in.at(13, 3));
  EXPECT_EQ(out.at(6, 3), 0);
}

TEST(Translate, MovesToTheRightAndDownByWholePixels) {
  const Image in = test::random_image({.height = 10, .width = 20, .channels = 3}, 1);
  const Image right = translate_x(in.view(), 0.19);  // 3.8 pixels: 3
  EXPECT_EQ(right.at(4, 3, 1), in.at(4, 0, 1));
  EXPECT_EQ(right.at(4, 2, 1), 0);
  const Image up = translate_y(in.view(), -0.39);  // -3.9 pixels: -3
  EXPECT_EQ(up.at(0, 7, 2), in.at(3, 7, 2));
  EXPECT_EQ(up.at(7, 7, 2), 0);
  EXPECT_EQ(translate_x(in.view(), 1), Image(in.shape()));
  EXPECT_EQ(translate_x(in.view(), 0), in);
}

TEST(Translate, RefusesMoreThanTheWholeSide) {
  const Image in({.height = 2, .width = 2});
  EXPECT_THROW(static_cast<void>(translate_x(in.view(), 1.1)), Error);
  EXPECT_THROW(static_cast<void>(translate_y(in.view(), -1.1)), Error);
}

}  // namespace
}  // namespace stoker
