#include "stoker/report/canvas.h"

#include <climits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/report/test_rows.h"

namespace stoker {
namespace {

constexpr Colour kWhite{255, 255, 255};

using test::as_rows;
using test::Rows;

TEST(Colour, GreyKeepsBlackWhiteAndEveryGrey) {
  for (int value = 0; value < 256; ++value) {
    const auto level = static_cast<std::uint8_t>(value);
    EXPECT_EQ((Colour{level, level, level}.grey()), level);
  }
}

TEST(Colour, GreenIsBrighterThanRedAndRedThanBlue) {
  EXPECT_EQ((Colour{255, 0, 0}.grey()), 76);
  EXPECT_EQ((Colour{0, 255, 0}.grey()), 150);
  EXPECT_EQ((Colour{0, 0, 255}.grey()), 29);
}

TEST(FillRect, FillsItsPixelsOnly) {
  Image image(ImageShape{3, 4, 1});
  fill_rect(image.view(), {1, 1, 2, 1}, kWhite);
  EXPECT_EQ(as_rows(image), (Rows{"....", ".##.", "...."}));
}

TEST(FillRect, WritesEachChannel) {
  Image image(ImageShape{1, 2, 3});
  fill_rect(image.view(), {1, 0, 1, 1}, {10, 20, 30});
  EXPECT_EQ(image.at(0, 0, 2), 0);
  EXPECT_EQ(image.at(0, 1, 0), 10);
  EXPECT_EQ(image.at(0, 1, 1), 20);
  EXPECT_EQ(image.at(0, 1, 2), 30);
}

TEST(FillRect, IsCutAtEveryBorder) {
  Image image(ImageShape{2, 2, 1});
  fill_rect(image.view(), {-5, 1, 6, 9}, kWhite);
  EXPECT_EQ(as_rows(image), (Rows{"..", "#."}));
  fill_rect(image.view(), {INT_MAX, INT_MAX, INT_MAX, INT_MAX}, kWhite);
  fill_rect(image.view(), {0, 0, -3, 2}, kWhite);
  fill_rect(image.view(), {INT_MIN, INT_MIN, INT_MAX, INT_MAX}, kWhite);
  EXPECT_EQ(as_rows(image), (Rows{"..", "#."}));
}

TEST(FrameRect, LiesJustOutside) {
  Image image(ImageShape{4, 5, 1});
  frame_rect(image.view(), {1, 1, 3, 2}, kWhite);
  EXPECT_EQ(as_rows(image), (Rows{"#####", "#...#", "#...#", "#####"}));
}

TEST(DrawImage, EnlargesEachPixelToASquare) {
  Image in(ImageShape{1, 2, 1});
  in.view().row(0)[1] = 7;
  Image out(ImageShape{4, 6, 1});
  draw_image(out.view(), 1, 1, in.view(), 2);
  EXPECT_EQ(as_rows(out), (Rows{"......", "...##.", "...##.", "......"}));
  EXPECT_EQ(out.at(2, 4), 7);
}

TEST(DrawImage, IsCutAtEveryBorder) {
  Image in(ImageShape{2, 2, 1});
  fill_rect(in.view(), {0, 0, 2, 2}, kWhite);
  in.view().row(1)[1] = 9;
  Image out(ImageShape{2, 2, 1});
  draw_image(out.view(), -3, -3, in.view(), 2);
  EXPECT_EQ(as_rows(out), (Rows{"#.", ".."}));
  EXPECT_EQ(out.at(0, 0), 9);
  draw_image(out.view(), 1, 1, in.view(), 50);
  EXPECT_EQ(as_rows(out), (Rows{"#.", ".#"}));
  draw_image(out.view(), 2, -100, in.view(), 2);
  EXPECT_EQ(as_rows(out), (Rows{"#.", ".#"}));
}

TEST(DrawImage, SpreadsGreyOverRgb) {
  Image in(ImageShape{1, 1, 1});
  in.view().row(0)[0] = 42;
  Image out(ImageShape{1, 2, 3});
  draw_image(out.view(), 1, 0, in.view(), 1);
  for (int channel = 0; channel < 3; ++channel) {
    EXPECT_EQ(out.at(0, 0, channel), 0);
    EXPECT_EQ(out.at(0, 1, channel), 42);
  }
}

TEST(DrawImage, KeepsTheOrderOfChannels) {
  Image in(ImageShape{1, 1, 3});
  fill_rect(in.view(), {0, 0, 1, 1}, {1, 2, 3});
  Image out(ImageShape{1, 1, 3});
  draw_image(out.view(), 0, 0, in.view(), 1);
  EXPECT_EQ(out, in);
}

TEST(DrawImage, RefusesZoomZeroAndRgbOnGrey) {
  Image grey(ImageShape{1, 1, 1});
  const Image rgb(ImageShape{1, 1, 3});
  EXPECT_THROW(draw_image(grey.view(), 0, 0, rgb.view(), 1), InvariantError);
  EXPECT_THROW(draw_image(grey.view(), 0, 0, Image(grey).view(), 0), InvariantError);
}

}  // namespace
}  // namespace stoker
