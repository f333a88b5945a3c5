#include "stoker/report/confusion_matrix.h"

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/report/test_pages.h"

namespace stoker {
namespace {

using test::colour_at;
using test::count_colour;
using testing::HasSubstr;
using Counts = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

Names numbered(int classes) {
  Names names;
  for (int i = 0; i < classes; ++i) names.push_back("class " + std::to_string(i));
  return names;
}

Counts diagonal(int classes, std::int64_t count) {
  Counts counts(static_cast<std::size_t>(classes) * classes);
  for (int i = 0; i < classes; ++i) counts[static_cast<std::size_t>(i) * (classes + 1)] = count;
  return counts;
}

// The image with the place of its cells.
struct Drawn {
  Drawn(const Counts& counts, const Names& names, const ConfusionMatrixOptions& options = {})
      : page(confusion_matrix(counts, names, options)),
        cells(confusion_matrix_cells(counts, names, options)),
        side(cells.width / static_cast<int>(names.size())) {}

  // Near its upper left corner, where no digit reaches.
  [[nodiscard]] Colour cell(int row, int column) const {
    const int inset = side > 12 ? 2 : 0;
    return colour_at(page, cells.x + column * side + inset, cells.y + row * side + inset);
  }
  // Whether something is written in it.
  [[nodiscard]] bool has_text(int row, int column) const {
    const Rect inner{cells.x + column * side + 2, cells.y + row * side + 2, side - 4, side - 4};
    return count_colour(page, inner, cell(row, column)) < inner.width * inner.height;
  }

  Image page;
  Rect cells;
  int side;
};

TEST(ConfusionMatrix, ALargerShareOfTheRowIsDarker) {
  const Drawn drawn({60, 30, 10, 1, 98, 1, 0, 50, 50}, numbered(3));
  EXPECT_LT(drawn.cell(0, 0).grey(), drawn.cell(0, 1).grey());
  EXPECT_LT(drawn.cell(0, 1).grey(), drawn.cell(0, 2).grey());
  EXPECT_EQ(drawn.cell(2, 1), drawn.cell(2, 2));
  for (int i = 0; i < 9; ++i) EXPECT_LE(drawn.cell(1, 1).grey(), drawn.cell(i / 3, i % 3).grey());
}

TEST(ConfusionMatrix, ShadesByTheRowNotByTheCount) {
  const Drawn drawn({1, 1, 5000, 5000}, numbered(2));
  EXPECT_EQ(drawn.cell(0, 0), drawn.cell(1, 1));
}

TEST(ConfusionMatrix, TheLeastShareIsVisibleAndNoneIsWhite) {
  const Drawn drawn({1'000'000, 1, 0, 7}, numbered(2));
  EXPECT_NE(drawn.cell(0, 1), kPaper);
  EXPECT_EQ(drawn.cell(1, 0), kPaper);
}

TEST(ConfusionMatrix, RowsAreTrueClassesAndColumnsPredictedOnes) {
  const Drawn drawn({0, 9, 0, 9}, numbered(2));
  EXPECT_EQ(drawn.cell(0, 0), kPaper);
  EXPECT_NE(drawn.cell(0, 1), kPaper);
  EXPECT_EQ(drawn.cell(1, 0), kPaper);
}

TEST(ConfusionMatrix, AClassWithoutSamplesIsAWhiteRow) {
  const Drawn drawn({0, 0, 3, 4}, numbered(2));
  EXPECT_EQ(drawn.cell(0, 0), kPaper);
  EXPECT_EQ(drawn.cell(0, 1), kPaper);
}

TEST(ConfusionMatrix, WritesCountsForUpTo40Classes) {
  for (const int classes : {1, 2, 4, 5, 10, 16, 17, 40}) {
    const Drawn drawn(diagonal(classes, 88), numbered(classes));
    EXPECT_TRUE(drawn.has_text(classes - 1, classes - 1)) << classes;
  }
  const Drawn drawn(diagonal(41, 88), numbered(41));
  EXPECT_FALSE(drawn.has_text(40, 40));
}

TEST(ConfusionMatrix, CountsStayInsideTheirCells) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t count : {std::int64_t{99'999}, std::int64_t{100'000},
                                   std::int64_t{9'999'999}, std::int64_t{123'456'789}, kMost}) {
    for (const int classes : {2, 10, 30}) {
      const Drawn drawn(Counts(static_cast<std::size_t>(classes) * classes, count),
                        numbered(classes));
      const Colour shade = drawn.cell(0, 0);
      // A ring of one pixel within each cell is free of digits.
      for (int column = 0; column < classes; ++column) {
        const int x = drawn.cells.x + column * drawn.side;
        const Rect left{x, drawn.cells.y, 1, drawn.side - 1};
        const Rect right{x + drawn.side - 2, drawn.cells.y, 1, drawn.side - 1};
        EXPECT_EQ(count_colour(drawn.page, left, shade), drawn.side - 1) << count;
        EXPECT_EQ(count_colour(drawn.page, right, shade), drawn.side - 1) << count;
      }
    }
  }
}

TEST(ConfusionMatrix, TextIsReadableOnEveryShade) {
  for (std::int64_t share = 1; share <= 100; ++share) {
    const Drawn drawn({share, 100 - share, 0, 1}, numbered(2));
    const Rect cell{drawn.cells.x, drawn.cells.y, drawn.side - 1, drawn.side - 1};
    const bool dark_ink = count_colour(drawn.page, cell, kInk) > 0;
    const int ink = dark_ink ? kInk.grey() : kPaper.grey();
    EXPECT_GT(std::abs(ink - drawn.cell(0, 0).grey()), 70) << share;
  }
}

TEST(ConfusionMatrix, NamesStandBesideTheCellsAndNeverInThem) {
  Names names = numbered(10);
  names[3] = std::string(500, 'W');
  const Drawn with(diagonal(10, 5), names);
  const Rect left{0, with.cells.y, with.cells.x - 1, with.cells.height};
  EXPECT_GT(count_colour(with.page, left, kInk), 100);
  const Rect below{with.cells.x, with.cells.y + with.cells.height + 1, with.cells.width, 60};
  EXPECT_GT(count_colour(with.page, below, kInk), 100);
  // The cells look the same whatever the names are.
  const Drawn without(diagonal(10, 5), Names(10));
  ASSERT_EQ(with.side, without.side);
  for (int y = 0; y < with.cells.height; ++y) {
    for (int x = 0; x < with.cells.width; ++x) {
      ASSERT_EQ(colour_at(with.page, with.cells.x + x, with.cells.y + y),
                colour_at(without.page, without.cells.x + x, without.cells.y + y));
    }
  }
}

TEST(ConfusionMatrix, SurvivesAnyText) {
  const std::string odd = "\xFF\xC3 \xF0\x9F\x94\xA5 \n" + std::string(3000, 'y');
  const ConfusionMatrixOptions options{.title = odd, .rows_title = odd, .columns_title = odd};
  for (const int classes : {1, 2, 17, 60, 300}) {
    const Names names(static_cast<std::size_t>(classes), odd);
    const Drawn drawn(diagonal(classes, 2), names, options);
    EXPECT_TRUE(test::has_margin(drawn.page, 8)) << classes;
    EXPECT_LT(drawn.page.shape().width, 1500) << classes;
  }
}

TEST(ConfusionMatrix, KeepsAMarginAtEverySize) {
  for (const int classes : {1, 2, 10, 40, 70, 101, 200, 1000}) {
    const Drawn drawn(diagonal(classes, 1000), numbered(classes), {.title = "a title"});
    EXPECT_TRUE(test::has_margin(drawn.page, 10)) << classes;
    EXPECT_NE(drawn.cell(classes - 1, classes - 1), kPaper);
  }
}

TEST(ConfusionMatrix, RefusesInputThatIsNoMatrix) {
  EXPECT_THAT(message_of([] { return confusion_matrix({}, {}); }), HasSubstr("at least one class"));
  EXPECT_THAT(message_of([] { return confusion_matrix(Counts(5), numbered(2)); }),
              HasSubstr("Expected 2 times 2 counts, got 5 counts"));
  EXPECT_THAT(message_of([] { return confusion_matrix(Counts(6), numbered(2)); }),
              HasSubstr("got 6 counts"));
  EXPECT_THAT(message_of([] {
                return confusion_matrix(Counts{1, 2, -3, 4}, numbered(2));
              }),
              HasSubstr("Expected 0 or more, got -3"));
}

TEST(ConfusionMatrix, RefusesPagesThatAreTooLarge) {
  // The names alone say that it cannot be: no counts are needed to see that.
  const Names names(15'000);
  EXPECT_THAT(message_of([&] { return confusion_matrix({}, names); }), HasSubstr("too large"));
}

}  // namespace
}  // namespace stoker
