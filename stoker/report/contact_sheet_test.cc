#include "stoker/report/contact_sheet.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/report/canvas.h"

namespace stoker {
namespace {

Image plain(const ImageShape& shape, Colour colour) {
  Image image(shape);
  fill_rect(image.view(), {0, 0, shape.width, shape.height}, colour);
  return image;
}

Image grey(int side, std::uint8_t level) { return plain({side, side, 1}, {level, level, level}); }

// Levels 3 and 77 are used by nothing else on a sheet.
ContactRow row_of(const std::string& label, std::size_t count) {
  ContactRow row{label, {grey(8, 3)}};
  row.images.resize(count, grey(8, 77));
  return row;
}

int count_pixels(const Image& sheet, std::uint8_t level) {
  const ImageView view = sheet.view();
  return static_cast<int>(std::count(view.data, view.data + view.shape.bytes(), level));
}

struct Box {
  int left = INT_MAX;
  int top = INT_MAX;
  int right = -1;
  int bottom = -1;
};

// Around all pixels of one level.
Box box_of(const Image& sheet, std::uint8_t level) {
  Box box;
  for (int y = 0; y < sheet.shape().height; ++y) {
    for (int x = 0; x < sheet.shape().width; ++x) {
      if (sheet.at(y, x) != level) continue;
      box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x),
             std::max(box.bottom, y)};
    }
  }
  return box;
}

std::string refusal(const std::vector<ContactRow>& rows, const ContactSheetOptions& options) {
  return message_of([&] { return contact_sheet(rows, options); });
}

TEST(ContactSheet, ShowsEveryImageEnlarged) {
  const Image sheet = contact_sheet({row_of("boot", 4), row_of("bag", 4)}, {.zoom = 3});
  EXPECT_EQ(sheet.shape().channels, 1);
  EXPECT_EQ(count_pixels(sheet, 3), 2 * 24 * 24);
  EXPECT_EQ(count_pixels(sheet, 77), 6 * 24 * 24);
}

TEST(ContactSheet, PutsOriginalsLeftOfALineAndTheRestRightOfIt) {
  const Image sheet = contact_sheet({row_of("boot", 3), row_of("bag", 3)}, {});
  const Box originals = box_of(sheet, 3);
  const Box augmented = box_of(sheet, 77);
  EXPECT_EQ(originals.top, augmented.top);
  EXPECT_EQ(originals.bottom, augmented.bottom);
  EXPECT_GT(augmented.left - originals.right, 24);
  const int middle = (augmented.left + originals.right + 1) / 2;
  for (int y = originals.top; y <= originals.bottom; ++y) {
    ASSERT_LT(sheet.at(y, middle), 255) << "the line has a hole at " << y;
    ASSERT_EQ(sheet.at(y, middle - 5), 255) << "no white beside the line at " << y;
  }
}

TEST(ContactSheet, KeepsAWhiteMargin) {
  const Image sheet = contact_sheet({row_of("boot", 2)}, {.title = std::string(500, 'x')});
  const ImageShape& shape = sheet.shape();
  for (int y = 0; y < shape.height; ++y) {
    for (int x = 0; x < shape.width; ++x) {
      const int border = std::min({x, y, shape.width - 1 - x, shape.height - 1 - y});
      ASSERT_TRUE(border >= 12 || sheet.at(y, x) == 255) << x << " " << y;
    }
  }
}

TEST(ContactSheet, ChoosesTheLeastZoomThatReachesSixtyFourPixels) {
  for (const auto& [side, cell] : {std::pair{28, 84}, {32, 64}, {64, 64}, {63, 126}, {100, 100}}) {
    const Box box = box_of(contact_sheet({{"", {grey(side, 3)}}}, {}), 3);
    EXPECT_EQ(box.right - box.left + 1, cell) << side;
    EXPECT_EQ(box.bottom - box.top + 1, cell) << side;
  }
}

TEST(ContactSheet, DoesNotBlowUpANarrowStrip) {
  const Image strip = plain({1, 640, 1}, {3, 3, 3});
  EXPECT_EQ(count_pixels(contact_sheet({{"", {strip}}}, {}), 3), 640);
}

TEST(ContactSheet, CentresSmallImagesInTheirCells) {
  const Image sheet = contact_sheet({{"", {grey(20, 3)}}, {"", {grey(10, 77)}}}, {.zoom = 2});
  const Box large = box_of(sheet, 3);
  const Box small = box_of(sheet, 77);
  EXPECT_EQ(small.left, large.left + 10);
  EXPECT_EQ(small.right, large.right - 10);
}

TEST(ContactSheet, AcceptsRowsOfDifferentLength) {
  const Image sheet = contact_sheet({row_of("boot", 1), row_of("bag", 5)}, {.zoom = 1});
  EXPECT_EQ(count_pixels(sheet, 3), 2 * 64);
  EXPECT_EQ(count_pixels(sheet, 77), 4 * 64);
}

TEST(ContactSheet, KeepsLabelsOfTinyRowsApart) {
  const Image tiny = grey(2, 3);
  const Image sheet = contact_sheet({{"yy", {tiny}}, {"yy", {tiny}}}, {.zoom = 1});
  const Box box = box_of(sheet, 3);
  EXPECT_GE(box.bottom - box.top, 18) << "a line of text is 18 pixels high";
}

TEST(ContactSheet, IsRgbWhereAnyImageIs) {
  const Image red = plain({8, 8, 3}, {250, 7, 9});
  const Image sheet = contact_sheet({{"a", {grey(8, 3), red}}}, {.zoom = 1});
  ASSERT_EQ(sheet.shape().channels, 3);
  EXPECT_EQ(count_pixels(sheet, 3), 64 * 3);
  EXPECT_EQ(count_pixels(sheet, 250), 64);
  EXPECT_EQ(count_pixels(sheet, 7), 64);
}

TEST(ContactSheet, TextTakesRoomOnlyWhereThereIsText) {
  const ContactSheetOptions bare{.zoom = 1, .column_titles = {}};
  const ImageShape without = contact_sheet({row_of("", 3)}, bare).shape();
  const ImageShape with = contact_sheet({row_of("boot", 3)}, {.zoom = 1, .title = "t"}).shape();
  EXPECT_LT(without.width, with.width);
  EXPECT_LT(without.height, with.height);
}

TEST(ContactSheet, SurvivesAnyText) {
  const std::string odd = "\xFF\xC3 \xF0\x9F\x94\xA5 \n" + std::string(3000, 'y');
  const Image sheet = contact_sheet({row_of(odd, 3), row_of("", 3)},
                                    {.title = odd, .column_titles = {odd, odd, odd, odd, odd}});
  EXPECT_LT(sheet.shape().width, 1000);
  EXPECT_EQ(count_pixels(sheet, 3), 2 * 64 * 64);
  EXPECT_EQ(count_pixels(sheet, 77), 4 * 64 * 64);
}

TEST(ContactSheet, RefusesEmptyInput) {
  EXPECT_NE(refusal({}, {}).find("at least one row"), std::string::npos);
  EXPECT_NE(refusal({row_of("a", 2), {"b", {}}}, {}).find("row 1"), std::string::npos);
  EXPECT_NE(refusal({{"a", {Image()}}}, {}).find("0x0"), std::string::npos);
}

TEST(ContactSheet, RefusesANegativeZoom) {
  EXPECT_NE(refusal({row_of("a", 2)}, {.zoom = -1}).find("got -1"), std::string::npos);
}

TEST(ContactSheet, RefusesSheetsThatAreTooLargeBeforeTakingMemory) {
  const std::vector<ContactRow> rows{row_of("a", 2)};
  for (const int zoom : {INT_MAX, 1 << 17, 100'000, 2000}) {
    EXPECT_NE(refusal(rows, {.zoom = zoom}).find("too large"), std::string::npos) << zoom;
  }
  const std::vector<ContactRow> many(20'000, ContactRow{"", {grey(1, 3)}});
  EXPECT_NE(refusal(many, {}).find("too large"), std::string::npos);
}

}  // namespace
}  // namespace stoker
