#include "stoker/augment/perspective.h"

#include <gtest/gtest.h>

#include "stoker/augment/policy.h"
#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(RandomPerspective, OfUnmovedCornersCopies) {
  const Image in = test::random_image({.height = 20, .width = 30, .channels = 3}, 1);
  EXPECT_EQ(perspective(in.view(), {{{0, 0}, {29, 0}, {29, 19}, {0, 19}}}), in);
  EXPECT_EQ(Policy::parse("perspective(0,1)").apply(in.view(), {}), in);
}

TEST(RandomPerspective, CornersMoveInwardsUpToTheirBound) {
  Rng rng({.seed = 1}, 0);
  double furthest = 0;
  for (int i = 0; i < 2000; ++i) {
    const Quadrangle q = draw_corners(rng, {.height = 80, .width = 100}, 0.5);
    ASSERT_TRUE(q[0].x >= 0 && q[0].x <= 25 && q[0].y >= 0 && q[0].y <= 20);
    ASSERT_TRUE(q[2].x >= 99 - 25 && q[2].x <= 99 && q[2].y >= 79 - 20 && q[2].y <= 79);
    furthest = std::max(furthest, q[0].x);
  }
  EXPECT_EQ(furthest, 25);
}

// With three corners on a line there is no map; a worker must never meet that.
TEST(RandomPerspective, NeverFailsHoweverStrongAndSmall) {
  const Policy policy = Policy::parse("perspective(1,1)");
  for (int height = 1; height <= 9; height += 2) {
    for (int width = 1; width <= 9; ++width) {
      const Image in = test::random_image({.height = height, .width = width}, 1);
      for (std::uint64_t sample = 0; sample < 200; ++sample) {
        ASSERT_NO_THROW(static_cast<void>(policy.apply(in.view(), {.sample = sample})));
      }
    }
  }
}

TEST(RandomPerspective, RefusesCornersOnALine) {
  const Image in({.height = 5, .width = 5});
  EXPECT_THROW(static_cast<void>(perspective(in.view(), {{{0, 0}, {1, 1}, {2, 2}, {0, 4}}})),
               Error);
}

}  // namespace
}  // namespace stoker
