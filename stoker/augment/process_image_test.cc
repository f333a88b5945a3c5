#include "stoker/augment/process_image.h"

#include <gtest/gtest.h>

#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(ProcessImage, IsTheFourOperationsWithinTheirBounds) {
  EXPECT_EQ(process_policy().text(), "rotate(-15,15),shift(-2,2),skew(-0.15,0.15),noise(0.1)");
  EXPECT_EQ(process_policy({.rotate_degrees = 5, .shift_pixels = 1, .skew_tilt = 0, .max_noise = 0})
                .text(),
            "rotate(-5,5),shift(-1,1),skew(-0,0),noise(0)");
}

TEST(ProcessImage, GivesEachSampleAndEpochItsOwnVersion) {
  const Image in = test::blob(28);
  const Image a = process_image(in.view(), {.seed = 1, .epoch = 0, .sample = 0});
  EXPECT_EQ(a, process_image(in.view(), {.seed = 1, .epoch = 0, .sample = 0}));
  EXPECT_NE(a, process_image(in.view(), {.seed = 1, .epoch = 0, .sample = 1}));
  EXPECT_NE(a, process_image(in.view(), {.seed = 1, .epoch = 1, .sample = 0}));
  EXPECT_NE(a, process_image(in.view(), {.seed = 2, .epoch = 0, .sample = 0}));
}

TEST(ProcessImage, WithBoundsOfZeroChangesNothing) {
  const Image in = test::random_image({.height = 28, .width = 28}, 1);
  EXPECT_EQ(process_image(in.view(), {},
                          {.rotate_degrees = 0, .shift_pixels = 0, .skew_tilt = 0, .max_noise = 0}),
            in);
}

}  // namespace
}  // namespace stoker
