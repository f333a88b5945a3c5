#include "stoker/augment/skew.h"

#include <gtest/gtest.h>

#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Skew, MovesEachRowByItsNumberTimesTheTilt) {
  const Image in = test::random_image({.height = 10, .width = 20}, 1);
  for (const int tilt : {-2, -1, 0, 1, 3}) {
    const Image out = skew(in.view(), tilt);
    for (int y = 0; y < 10; ++y) {
      for (int x = 0; x < 20; ++x) {
        const int from = x + y * tilt;
        ASSERT_EQ(out.at(y, x), from >= 0 && from < 20 ? in.at(y, from) : 0) << tilt;
      }
    }
  }
}

TEST(Skew, BetweenTwoCellsInterpolates) {
  Image in({.height = 2, .width = 4});
  in.view().row(1)[1] = 100;
  in.view().row(1)[2] = 200;
  const Image out = skew(in.view(), 0.5);
  EXPECT_EQ(out.at(1, 1), 150);  // in[1][1.5]
  EXPECT_EQ(out.at(1, 0), 50);   // in[1][0.5]
  EXPECT_EQ(out.at(1, 2), 100);  // in[1][2.5]
}

}  // namespace
}  // namespace stoker
