#include "stoker/augment/scale.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Scale, ByOneCopies) {
  const Image in = test::random_image({.height = 9, .width = 9}, 1);
  EXPECT_EQ(scale(in.view(), 1), in);
}

TEST(Scale, ByAThirdShowsEveryThirdPixelInAFrame) {
  const Image in = test::random_image({.height = 9, .width = 9}, 1);
  const Image out = scale(in.view(), 1 / 3.0);
  EXPECT_EQ(out.at(4, 4), in.at(4, 4));
  EXPECT_EQ(out.at(3, 4), in.at(1, 4));
  EXPECT_EQ(out.at(4, 5), in.at(4, 7));
  EXPECT_EQ(out.at(0, 0), 0);
  EXPECT_EQ(out.at(8, 4), 0);
}

TEST(Scale, RefusesFactorsThatAreNotPositive) {
  const Image in({.height = 2, .width = 2});
  EXPECT_THROW(static_cast<void>(scale(in.view(), 0)), Error);
  EXPECT_THROW(static_cast<void>(scale(in.view(), -1)), Error);
}

}  // namespace
}  // namespace stoker
