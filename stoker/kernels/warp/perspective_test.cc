#include "stoker/kernels/warp/perspective.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

Quadrangle corners(double width, double height) {
  return {{{0, 0}, {width, 0}, {width, height}, {0, height}}};
}

class PerspectiveEveryVersion : public testing::Test {
 protected:
  ~PerspectiveEveryVersion() override { force_simd("auto"); }
};

TEST_F(PerspectiveEveryVersion, EqualsTheReferenceForAllWidths) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    WarpScratch scratch;
    for (const int channels : {1, 3}) {
      for (int width = 2; width <= 150; width += width < 40 ? 1 : 11) {
        const ImageShape shape{.height = 30, .width = width, .channels = channels};
        const Image in = test::random_image(shape, 3);
        const Quadrangle to = {
            {{width * 0.1, 3}, {width * 0.8, -4}, {width * 1.2, 25}, {width * -0.1, 29}}};
        const Perspective map = perspective_between(corners(width, 30), to);
        Image expected(shape), actual(shape);
        warp_perspective_reference(expected.view(), in.view(), map);
        warp_perspective(actual.view(), in.view(), map, scratch);
        ASSERT_EQ(actual, expected) << name << " " << width << " " << channels;
        // The same scratch memory serves an affine map in between.
        warp_affine(actual.view(), in.view(), to_fixed(rotation(20, 5, 5)), scratch);
      }
    }
  }
}

TEST_F(PerspectiveEveryVersion, EqualsTheReferenceBehindTheHorizon) {
  const Image in = test::random_image({.height = 40, .width = 50, .channels = 3}, 3);
  const Perspective map{.g = -0.05, .h = 0.01};
  Image expected(in.shape()), actual(in.shape());
  warp_perspective_reference(expected.view(), in.view(), map);
  EXPECT_EQ(expected.at(0, 49), 0);
  for (const auto& name : available_simd()) {
    force_simd(name);
    WarpScratch scratch;
    warp_perspective(actual.view(), in.view(), map, scratch);
    ASSERT_EQ(actual, expected) << name;
  }
}

TEST(Perspective, OfEqualCornersCopies) {
  const Image in = test::random_image({.height = 13, .width = 17, .channels = 3}, 1);
  Image out(in.shape());
  WarpScratch scratch;
  warp_perspective(out.view(), in.view(), perspective_between(corners(17, 13), corners(17, 13)),
                   scratch);
  EXPECT_EQ(out, in);
}

TEST(Perspective, TakesCornersToCorners) {
  const Quadrangle from = corners(100, 60), to = {{{10, 5}, {90, 12}, {99, 50}, {3, 59}}};
  const Perspective m = perspective_between(from, to);
  for (std::size_t i = 0; i < 4; ++i) {
    const double w = m.g * to[i].x + m.h * to[i].y + m.i;
    EXPECT_NEAR((m.a * to[i].x + m.b * to[i].y + m.c) / w, from[i].x, 1e-9);
    EXPECT_NEAR((m.d * to[i].x + m.e * to[i].y + m.f) / w, from[i].y, 1e-9);
  }
}

// The horizon goes through the output's corner (0, 0): the denominator is 0 there, not 1.
TEST(Perspective, FindsMapsWhoseHorizonMeetsTheOrigin) {
  const Quadrangle to = {{{0, 1}, {2, 2}, {3, 3}, {0, 3}}};
  const Perspective m = perspective_between(corners(5, 5), to);
  EXPECT_NEAR(m.i, 0, 1e-9);
  const double w = m.g * 3 + m.h * 3 + m.i;
  EXPECT_NEAR((m.a * 3 + m.b * 3 + m.c) / w, 5, 1e-9);
}

TEST(Perspective, RefusesCornersOnALine) {
  const Quadrangle line = {{{0, 0}, {1, 1}, {2, 2}, {3, 3}}};
  EXPECT_THROW(static_cast<void>(perspective_between(corners(4, 4), line)), Error);
}

}  // namespace
}  // namespace stoker
