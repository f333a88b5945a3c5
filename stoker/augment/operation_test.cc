#include "stoker/augment/operation.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

// The shortcut must be what the warp would have given, also where the image leaves the frame.
TEST(Resample, OfWholePixelsEqualsTheWarp) {
  for (const int channels : {1, 3}) {
    const Image in = test::random_image({.height = 11, .width = 37, .channels = channels}, 1);
    for (const double xx : {-1.0, 1.0}) {
      for (const double yy : {-1.0, 1.0}) {
        for (const double x0 : {-1000.0, -36.0, -3.0, 0.0, 5.0, 36.0, 40.0, 72.0, 73.0}) {
          for (const double y0 : {-11.0, -2.0, 0.0, 10.0, 13.0}) {
            const Affine map{.xx = xx, .x0 = x0, .yy = yy, .y0 = y0};
            Image expected(in.shape()), actual = in;  // no pixel may be left as it was
            WarpScratch scratch;
            warp_affine_reference(expected.view(), in.view(), to_fixed(map));
            resample(actual.view(), in.view(), map, scratch);
            ASSERT_EQ(actual, expected) << xx << " " << yy << " " << x0 << " " << y0;
          }
        }
      }
    }
  }
}

TEST(Resample, ReadsRowsWithGaps) {
  const Image whole = test::random_image({.height = 6, .width = 20, .channels = 3}, 2);
  ImageView part = whole.view();
  part.shape.width = 9;
  EXPECT_EQ(warped(part, {.xx = -1, .x0 = 8}), warped(Image(part).view(), {.xx = -1, .x0 = 8}));
}

TEST(Resample, InPlaceIsTheSame) {
  const Image in = test::random_image({.height = 15, .width = 20, .channels = 3}, 2);
  AugmentScratch scratch;
  for (const Affine& map : {Affine{}, rotation(25, 10, 7), translation(3, -2)}) {
    Image out = in;
    resample_in_place(out.view(), map, scratch);
    EXPECT_EQ(out, warped(in.view(), map));
  }
}

TEST(CheckArgument, RefusesWhatIsNoNumber) {
  EXPECT_THROW(check_argument("x", "factor", std::nan(""), 0, 1), Error);
  EXPECT_NO_THROW(check_argument("x", "factor", 1, 0, 1));
}

}  // namespace
}  // namespace stoker
