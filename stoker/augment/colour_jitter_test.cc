#include "stoker/augment/colour_jitter.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "stoker/augment/brightness.h"
#include "stoker/augment/contrast.h"
#include "stoker/augment/hue.h"
#include "stoker/augment/policy.h"
#include "stoker/augment/saturation.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(ColourJitter, IsTheFourOperationsInTheGivenOrder) {
  const Image in = test::random_image({.height = 9, .width = 8, .channels = 3}, 1);
  const ColourChange change{
      .brightness = 1.2, .contrast = 0.7, .saturation = 1.4, .hue = 0.1, .order = {3, 1, 0, 2}};
  Image expected = contrast(hue(in.view(), 0.1).view(), 0.7);
  expected = saturation(brightness(expected.view(), 1.2).view(), 1.4);
  EXPECT_EQ(colour_jitter(in.view(), change), expected);
}

TEST(ColourJitter, OfNothingChangesNothing) {
  const Image in = test::random_image({.height = 9, .width = 8, .channels = 3}, 1);
  EXPECT_EQ(Policy::parse("colour_jitter(0,0,0,0)").apply(in.view(), {}), in);
  EXPECT_EQ(Policy::parse("colour_jitter").apply(in.view(), {}), in);
}

TEST(ColourJitter, DrawsAllFactorsFromTheirRanges) {
  // One grey value: the brightness alone decides, and contrast changes nothing.
  Image in({.height = 2, .width = 2});
  std::fill_n(in.view().data, 4, std::uint8_t{100});
  const Policy policy = Policy::parse("colour_jitter(0.4,0.4,0,0)");
  std::map<int, int> seen;
  for (std::uint64_t sample = 0; sample < 3000; ++sample) {
    ++seen[policy.apply(in.view(), {.sample = sample}).at(0, 0)];
  }
  EXPECT_EQ(seen.begin()->first, 60);
  EXPECT_GE(seen.rbegin()->first, 138);
  EXPECT_LE(seen.rbegin()->first, 140);
  EXPECT_GE(seen.size(), 78U);  // of 80 levels
}

}  // namespace
}  // namespace stoker
