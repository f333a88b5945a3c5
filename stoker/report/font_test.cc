#include "stoker/report/font.h"

#include <climits>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/report/test_rows.h"

namespace stoker {
namespace {

constexpr Colour kWhiteText{255, 255, 255};

using test::Rows;

// The text drawn white on black, one cell a code point.
Rows drawn(std::string_view text, int scale = 1) {
  Image image(ImageShape{kTextHeight * scale, text_width(text, scale) + scale, 1});
  draw_text(image.view(), 0, 0, text, kWhiteText, scale);
  return test::as_rows(image);
}

TEST(Font, DrawsLettersTheRightWayUp) {
  EXPECT_EQ(drawn("F"), (Rows{"#####.", "#.....", "#.....", "####..", "#.....", "#.....", "#.....",
                              "......", "......"}));
}

TEST(Font, DrawsDescendersBelowTheBaseLine) {
  EXPECT_EQ(drawn("p"), (Rows{"......", "......", "####..", "#...#.", "#...#.", "#...#.", "####..",
                              "#.....", "#....."}));
}

TEST(Font, OnlySomeGlyphsReachBelowTheBaseLine) {
  std::string below;
  for (char c = '!'; c <= '~'; ++c) {
    const Rows rows = drawn(std::string(1, c));
    if ((rows[7] + rows[8]).find('#') != std::string::npos) below += c;
  }
  EXPECT_EQ(below, ",;_gjpqy|");
}

TEST(Font, EveryPrintableCharacterHasAGlyphOfItsOwn) {
  std::set<Rows> seen{drawn("\x01")};
  for (char c = ' '; c <= '~'; ++c) {
    EXPECT_TRUE(seen.insert(drawn(std::string(1, c))).second) << c << " looks like another";
  }
}

TEST(Font, EverySignThatOurTextsUseHasAGlyphOfItsOwn) {
  std::set<Rows> seen{drawn("\x01")};
  for (const char* sign :
       {"°", "±", "²", "³", "µ", "·", "×", "÷", "Σ", "ᵀ", "…", "→", "√", "≈", "≤", "≥", "█", "░"}) {
    EXPECT_TRUE(seen.insert(drawn(sign)).second) << sign << " looks like another";
    EXPECT_EQ(text_width(sign, 1), 5) << sign;
  }
}

TEST(Font, ASquareIsASmallTwoAtTheTop) {
  EXPECT_EQ(drawn("²"), (Rows{".##...", "#..#..", "..#...", ".#....", "####..", "......", "......",
                              "......", "......"}));
}

TEST(Font, LeavesTheGapBetweenGlyphsEmpty) {
  for (char c = ' '; c <= '~'; ++c) {
    for (const std::string& row : drawn(std::string(1, c))) EXPECT_EQ(row.back(), '.') << c;
  }
}

TEST(Font, UnknownCodePointsAreOneBoxEach) {
  const Rows box = drawn("\x01");
  EXPECT_EQ(drawn("\xC3\xA9"), box);          // é, two bytes
  EXPECT_EQ(drawn("\xE2\x82\xAC"), box);      // €, three
  EXPECT_EQ(drawn("\xF0\x9F\x94\xA5"), box);  // fire, four
  EXPECT_EQ(drawn("\x7F"), box);
  EXPECT_NE(box, drawn("?"));
}

TEST(Font, BytesThatAreNotUtf8AreBoxesAndNeverReadPastTheEnd) {
  EXPECT_EQ(drawn("\xE2\x82"), drawn("\x01"));  // breaks off
  EXPECT_EQ(drawn("\xE2\xB2"), drawn("\x01"));  // and is no ², though it ends like one
  EXPECT_EQ(drawn("\xE2"
                  "A"),
            drawn("\x01"
                  "A"));                            // the letter stays
  EXPECT_EQ(drawn("\x80\xBF"), drawn("\x01\x01"));  // continuations alone
  EXPECT_EQ(drawn("\xC1\x81"), drawn("\x01\x01"));  // overlong 'A'
  EXPECT_EQ(drawn("\xFF\xFE"), drawn("\x01\x01"));
}

TEST(TextWidth, CountsCodePointsWithoutTheLastGap) {
  EXPECT_EQ(text_width("", 1), 0);
  EXPECT_EQ(text_width("a", 1), 5);
  EXPECT_EQ(text_width("ab", 1), 11);
  EXPECT_EQ(text_width("ab", 3), 33);
  EXPECT_EQ(text_width("caf\xC3\xA9", 1), 23);
}

TEST(TextWidth, StopsAtTheLargestInt) {
  EXPECT_EQ(text_width(std::string(1000, 'a'), kMaxSide), INT_MAX);
}

TEST(DrawText, EnlargesByWholePixels) {
  const Rows small = drawn("aQ");
  const Rows large = drawn("aQ", 3);
  for (std::size_t y = 0; y < large.size(); ++y) {
    for (std::size_t x = 0; x < large[y].size(); ++x) {
      ASSERT_EQ(large[y][x], small[y / 3][x / 3]) << y << " " << x;
    }
  }
}

TEST(DrawText, IsCutAtEveryBorder) {
  const Rows whole = drawn("Wg");
  for (int dy = -10; dy <= 10; ++dy) {
    for (int dx = -14; dx <= 14; ++dx) {
      Image image(ImageShape{6, 7, 1});
      draw_text(image.view(), dx, dy, "Wg", kWhiteText, 1);
      for (int y = 0; y < 6; ++y) {
        for (int x = 0; x < 7; ++x) {
          const int from_y = y - dy;
          const int from_x = x - dx;
          const bool inside = from_y >= 0 && from_y < 9 && from_x >= 0 && from_x < 12;
          const bool set = inside && whole[from_y][from_x] == '#';
          ASSERT_EQ(image.at(y, x) != 0, set) << dx << " " << dy << " at " << x << " " << y;
        }
      }
    }
  }
}

TEST(DrawText, SurvivesPositionsFarOutside) {
  Image image(ImageShape{4, 4, 1});
  for (const int far : {INT_MIN, INT_MAX}) {
    draw_text(image.view(), far, 0, "abc", kWhiteText, kMaxSide);
    draw_text(image.view(), 0, far, "abc", kWhiteText, kMaxSide);
  }
  EXPECT_EQ(image, Image(ImageShape{4, 4, 1}));
}

TEST(DrawTextUpwards, IsTheTextTurnedByAQuarter) {
  const std::string text = "Lg7\xC3\xA9";
  const int width = text_width(text, 2);
  const int height = kTextHeight * 2;
  Image level(ImageShape{height, width, 1});
  draw_text(level.view(), 0, 0, text, kWhiteText, 2);
  Image upright(ImageShape{width + 4, height + 3, 1});
  draw_text_upwards(upright.view(), 3, width + 4, text, kWhiteText, 2);
  for (int y = 0; y < width + 4; ++y) {
    for (int x = 0; x < height + 3; ++x) {
      const bool inside = y >= 4 && x >= 3;
      const int expected = inside ? level.at(x - 3, width + 3 - y) : 0;
      ASSERT_EQ(upright.at(y, x), expected) << x << " " << y;
    }
  }
}

TEST(DrawTextUpwards, SurvivesPositionsFarOutside) {
  Image image(ImageShape{4, 4, 1});
  for (const int far : {INT_MIN, INT_MAX}) {
    draw_text_upwards(image.view(), far, 0, "abc", kWhiteText, kMaxSide);
    draw_text_upwards(image.view(), 0, far, "abc", kWhiteText, kMaxSide);
  }
  draw_text_upwards(image.view(), 0, 4, "", kWhiteText, 1);
  EXPECT_EQ(image, Image(ImageShape{4, 4, 1}));
}

TEST(DrawText, UsesItsColour) {
  Image rgb(ImageShape{9, 6, 3});
  draw_text(rgb.view(), 0, 0, "L", {1, 2, 3}, 1);
  EXPECT_EQ(rgb.at(0, 0, 0), 1);
  EXPECT_EQ(rgb.at(0, 0, 1), 2);
  EXPECT_EQ(rgb.at(0, 0, 2), 3);
  EXPECT_EQ(rgb.at(0, 1, 1), 0);
}

TEST(DrawText, RefusesScaleZero) {
  Image image(ImageShape{4, 4, 1});
  EXPECT_THROW(draw_text(image.view(), 0, 0, "a", kWhiteText, 0), InvariantError);
}

TEST(FitText, KeepsWhatFits) {
  EXPECT_EQ(fit_text("boot", 23, 1), "boot");
  EXPECT_EQ(fit_text("", 0, 1), "");
}

TEST(FitText, ShortensWithDots) {
  EXPECT_EQ(fit_text("boots", 28, 1), "bo..");
  EXPECT_EQ(fit_text("T-shirt top", 59, 1), "T-shirt..");
  EXPECT_EQ(fit_text("boots", 11, 1), "..");
  EXPECT_EQ(fit_text("boots", 10, 1), "");
}

TEST(FitText, NeverCutsACodePoint) {
  EXPECT_EQ(fit_text("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 17, 1), "\xC3\xA9..");
}

TEST(FitText, UsesAllTheWidthAndNoMore) {
  const std::string text = "abcdefghijklmnopqrstuvwxyz";
  for (const int scale : {1, 2, 3}) {
    for (int width = 11 * scale; width < text_width(text, scale); ++width) {
      const int got = text_width(fit_text(text, width, scale), scale);
      EXPECT_LE(got, width);
      EXPECT_GT(got + 6 * scale, width);
    }
  }
}

}  // namespace
}  // namespace stoker
