#include "stoker/augment/blur.h"

#include <gtest/gtest.h>

#include "stoker/augment/policy.h"
#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(GaussianBlur, SpreadsAPointOverTheKernel) {
  Image in({.height = 5, .width = 5});
  in.view().row(2)[2] = 200;
  const Image out = gaussian_blur(in.view(), 3, 1);
  // exp(-1/2) = 0.6065; weights 0.274, 0.452, 0.274.
  EXPECT_EQ(out.at(2, 2), 41);
  EXPECT_EQ(out.at(2, 1), 25);
  EXPECT_EQ(out.at(1, 1), 15);
  EXPECT_EQ(out.at(0, 2), 0);
}

TEST(GaussianBlur, InAPolicyIsThePlainFunction) {
  for (const int channels : {1, 3}) {
    const Image in = test::random_image({.height = 33, .width = 31, .channels = channels}, 1);
    EXPECT_EQ(Policy::parse("blur(9,1.5,1.5)").apply(in.view(), {}),
              gaussian_blur(in.view(), 9, 1.5));
  }
}

TEST(GaussianBlur, RefusesEvenSizesWhenThePolicyIsRead) {
  EXPECT_THROW(static_cast<void>(Policy::parse("blur(4,1,1)")), Error);
  EXPECT_THROW(static_cast<void>(Policy::parse("blur(3.5,1,1)")), Error);
  EXPECT_THROW(static_cast<void>(Policy::parse("blur(3,2,1)")), Error);
  EXPECT_THROW(static_cast<void>(gaussian_blur(Image({.height = 2, .width = 2}).view(), 4, 1)),
               Error);
}

}  // namespace
}  // namespace stoker
