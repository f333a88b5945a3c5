#include "stoker/cli/filter_image.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

Image step_image(std::uint8_t height = 255) {
  Image image({.height = 9, .width = 10});
  for (int y = 0; y < 9; ++y) std::fill_n(image.view().data + y * 10 + 5, 5, height);
  return image;
}

TEST(FilterImage, AStepIsFourTimesItsHeightForEveryFilterOfEdges) {
  const Image low = step_image(20), high = step_image(70);
  for (const NamedFilter& filter : named_filters()) {
    if (filter.correlation_only) continue;
    const FilterText text = parse_filter(filter.name);
    EXPECT_EQ(filter_image(low.view(), text).at(4, 5), 80) << filter.name;
    EXPECT_EQ(filter_image(high.view(), text).at(4, 5), 255) << filter.name;
    EXPECT_EQ(filter_image(high.view(), text).at(4, 2), 0) << filter.name;
  }
}

TEST(FilterImage, TheBlurIsTheMeanOfTheNeighbours) {
  const Image image = filter_image(step_image().view(), parse_filter("blur"));
  EXPECT_EQ(image.at(4, 4), 96);   // three of eight
  EXPECT_EQ(image.at(4, 5), 159);  // five of eight
  EXPECT_EQ(image.at(4, 7), 255);
}

TEST(FilterImage, OfNothingIsBlack) {
  const FilterText zero = parse_kernel("0");
  EXPECT_EQ(correlation_image(step_image().view(), zero.plane()).at(4, 7), 0);
}

}  // namespace
}  // namespace stoker
