#include "stoker/augment/rotate.h"

#include <gtest/gtest.h>

#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Rotate, ByAQuarterTurnIsExactAndCounterClockwise) {
  for (const int channels : {1, 3}) {
    const Image in = test::random_image({.height = 28, .width = 28, .channels = channels}, 1);
    const Image out = rotate(in.view(), 90);
    for (int y = 0; y < 28; ++y) {
      for (int x = 0; x < 28; ++x) {
        for (int c = 0; c < channels; ++c) ASSERT_EQ(out.at(y, x, c), in.at(x, 27 - y, c));
      }
    }
  }
}

TEST(Rotate, ByNothingOrAFullTurnCopies) {
  const Image in = test::random_image({.height = 20, .width = 31}, 2);
  EXPECT_EQ(rotate(in.view(), 0), in);
  EXPECT_EQ(rotate(in.view(), 360), in);
}

TEST(Rotate, CornersBecomeBlack) {
  Image white({.height = 28, .width = 28});
  for (std::size_t i = 0; i < white.shape().bytes(); ++i) white.view().data[i] = 255;
  const Image out = rotate(white.view(), 45);
  EXPECT_EQ(out.at(0, 0), 0);
  EXPECT_EQ(out.at(27, 27), 0);
  EXPECT_EQ(out.at(14, 14), 255);
}

TEST(Rotate, ThereAndBackIsNearlyTheSame) {
  const Image in = test::blob(64);
  const Image back = rotate(rotate(in.view(), 20).view(), -20);
  double difference = 0;
  for (std::size_t i = 0; i < in.shape().bytes(); ++i) {
    difference += std::abs(in.view().data[i] - back.view().data[i]);
  }
  EXPECT_LE(difference / static_cast<double>(in.shape().bytes()), 1.0);
}

}  // namespace
}  // namespace stoker
