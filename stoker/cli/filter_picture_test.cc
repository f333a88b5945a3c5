#include "stoker/cli/filter_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(ParseKernel, ReadsRowsOfNumbers) {
  for (const char* text : {"1 0 -1; 2 0 -2.5; 1 0 -1", "1,0,-1;2,0,-2.5;1,0,-1;"}) {
    const KernelText kernel = parse_kernel(text);
    EXPECT_EQ(kernel.rows, 3);
    EXPECT_EQ(kernel.columns, 3);
    EXPECT_EQ(kernel.values, (std::vector<float>{1, 0, -1, 2, 0, -2.5F, 1, 0, -1})) << text;
  }
  EXPECT_EQ(parse_kernel("7").values, std::vector<float>{7});
}

TEST(ParseKernel, SaysWhatIsWrong) {
  for (const char* text : {"", ";", "1 2", "1;2", "1 2 3; 4 5", "1 x 3", "1 nan 2", "1;;2",
                           "1 2 3;"
                           "4 5 6"}) {
    EXPECT_THROW(static_cast<void>(parse_kernel(text)), Error) << text;
  }
  try {
    static_cast<void>(parse_kernel("1 2 3; 4 5; 6 7 8"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rows of 3 and 2"));
  }
}

Image step_image(std::uint8_t height = 255) {
  Image image({.height = 9, .width = 10});
  for (int y = 0; y < 9; ++y) std::fill_n(image.view().data + y * 10 + 5, 5, height);
  return image;
}

TEST(FilterPicture, AStepIsFourTimesItsHeightForEveryFilterOfEdges) {
  const Image low = step_image(20), high = step_image(70);
  for (const NamedFilter& filter : named_filters()) {
    if (filter.correlation_only) continue;
    EXPECT_EQ(filter_picture(low.view(), filter).at(4, 5), 80) << filter.name;
    EXPECT_EQ(filter_picture(high.view(), filter).at(4, 5), 255) << filter.name;
    EXPECT_EQ(filter_picture(high.view(), filter).at(4, 2), 0) << filter.name;
  }
}

TEST(FilterPicture, TheBlurIsTheMeanOfTheNeighbours) {
  const Image picture = filter_picture(step_image().view(), named_filter("blur"));
  EXPECT_EQ(picture.at(4, 4), 96);   // three of eight
  EXPECT_EQ(picture.at(4, 5), 159);  // five of eight
  EXPECT_EQ(picture.at(4, 7), 255);
}

TEST(FilterPicture, OfNothingIsBlack) {
  const KernelText zero = parse_kernel("0");
  EXPECT_EQ(correlation_picture(step_image().view(), zero.plane()).at(4, 7), 0);
}

}  // namespace
}  // namespace stoker
