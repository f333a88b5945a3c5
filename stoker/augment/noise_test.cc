#include "stoker/augment/noise.h"

#include <gtest/gtest.h>

#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(AddNoise, ChangesEachValueByAtMostTheBound) {
  const Image in = test::random_image({.height = 28, .width = 28, .channels = 3}, 1);
  const Image out = add_noise(in.view(), 0.1, rng_stream({.seed = 1}, 0));
  int changed = 0;
  for (std::size_t i = 0; i < in.shape().bytes(); ++i) {
    const int difference = std::abs(in.view().data[i] - out.view().data[i]);
    ASSERT_LE(difference, 26);
    changed += difference != 0;
  }
  EXPECT_GT(changed, 2000);
}

TEST(AddNoise, OfNothingCopiesAlsoAPartOfALargerImage) {
  const Image whole = test::random_image({.height = 20, .width = 20}, 1);
  ImageView part = whole.view();
  part.shape.width = 11;
  EXPECT_EQ(add_noise(part, 0, rng_stream({}, 0)), Image(part));
}

}  // namespace
}  // namespace stoker
