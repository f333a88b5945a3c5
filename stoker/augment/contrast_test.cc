#include "stoker/augment/contrast.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Contrast, GoesAwayFromTheRoundedMean) {
  Image in({.height = 1, .width = 2});
  in.view().data[0] = 100;
  in.view().data[1] = 151;  // mean 125.5, rounded 126
  const Image out = contrast(in.view(), 2);
  EXPECT_EQ(out.at(0, 0), 74);
  EXPECT_EQ(out.at(0, 1), 176);
  EXPECT_EQ(contrast(in.view(), 1), in);
}

TEST(Contrast, OfColoursTakesTheMeanLuma) {
  Image in({.height = 1, .width = 2, .channels = 3});
  in.view().data[1] = 255;  // green: luma 150; with black: mean 75
  const Image out = contrast(in.view(), 0);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out.view().data[i], 75);
}

TEST(Contrast, RefusesNegativeFactors) {
  const Image in({.height = 2, .width = 2});
  EXPECT_THROW(static_cast<void>(contrast(in.view(), -1)), Error);
}

}  // namespace
}  // namespace stoker
