#include "stoker/augment/flip.h"

#include <gtest/gtest.h>

#include "stoker/augment/policy.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Flip, MirrorsPixels) {
  for (const int channels : {1, 3}) {
    const Image in = test::random_image({.height = 5, .width = 8, .channels = channels}, 1);
    const Image across = flip_horizontally(in.view()), down = flip_vertically(in.view());
    for (int y = 0; y < 5; ++y) {
      for (int x = 0; x < 8; ++x) {
        for (int c = 0; c < channels; ++c) {
          ASSERT_EQ(across.at(y, x, c), in.at(y, 7 - x, c));
          ASSERT_EQ(down.at(y, x, c), in.at(4 - y, x, c));
        }
      }
    }
    EXPECT_EQ(flip_horizontally(across.view()), in);
    EXPECT_EQ(flip_vertically(down.view()), in);
  }
}

TEST(Flip, IsDoneAsOftenAsItsProbabilitySays) {
  const Image in = test::random_image({.height = 3, .width = 9}, 1);
  const Image mirrored = flip_horizontally(in.view());
  const Policy policy = Policy::parse("hflip(0.3)");
  int flipped = 0;
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const Image out = policy.apply(in.view(), {.seed = 1, .sample = sample});
    ASSERT_TRUE(out == in || out == mirrored);
    flipped += out == mirrored;
  }
  EXPECT_NEAR(flipped, 600, 5 * 20.5);  // five deviations
}

// Composed with a rotation it costs no pass of its own and gives what two passes give.
TEST(Flip, ComposesWithGeometry) {
  const Image in = test::random_image({.height = 28, .width = 28}, 1);
  EXPECT_EQ(Policy::parse("rotate(90,90),hflip(1)").apply(in.view(), {}),
            flip_horizontally(Policy::parse("rotate(90,90)").apply(in.view(), {}).view()));
}

}  // namespace
}  // namespace stoker
