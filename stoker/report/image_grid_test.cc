#include "stoker/report/image_grid.h"

#include <climits>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/report/test_pages.h"

namespace stoker {
namespace {

using test::count_colour;
using testing::HasSubstr;

constexpr Colour kGreen{21, 128, 61};
constexpr Colour kRed{200, 30, 30};
// Nothing else on a page has this colour.
constexpr Colour kOwn{77, 77, 77};

Image plain(int height, int width, int channels = 1) {
  Image image(ImageShape{height, width, channels});
  fill_rect(image.view(), {0, 0, width, height}, kOwn);
  return image;
}

std::vector<GridCell> batch(std::size_t count, const std::string& label = "boot") {
  return std::vector<GridCell>(count, {plain(8, 8), label});
}

TEST(ImageGrid, ShowsEveryImageEnlarged) {
  const Image page = image_grid(batch(5), {.columns = 3, .zoom = 4});
  EXPECT_EQ(page.shape().channels, 1);
  EXPECT_EQ(count_colour(page, kOwn), 5 * 32 * 32);
}

TEST(ImageGrid, ShowsAtMostRowsTimesColumns) {
  EXPECT_EQ(count_colour(image_grid(batch(100), {.zoom = 1}), kOwn), 64 * 64);
  const ImageGridOptions small{.columns = 2, .rows = 3, .zoom = 1};
  EXPECT_EQ(count_colour(image_grid(batch(100), small), kOwn), 6 * 64);
}

TEST(ImageGrid, IsNoWiderThanItsImages) {
  const ImageShape two = image_grid(batch(2), {.zoom = 4}).shape();
  const ImageShape eight = image_grid(batch(8), {.zoom = 4}).shape();
  const ImageShape nine = image_grid(batch(9), {.zoom = 4}).shape();
  EXPECT_LT(two.width, eight.width);
  EXPECT_EQ(two.height, eight.height);
  EXPECT_EQ(eight.width, nine.width);
  EXPECT_LT(eight.height, nine.height);
}

TEST(ImageGrid, ChoosesAZoomThatShowsSmallImages) {
  EXPECT_EQ(count_colour(image_grid({{plain(28, 28)}}), kOwn), 112 * 112);
  EXPECT_EQ(count_colour(image_grid({{plain(200, 100)}}), kOwn), 200 * 100);
}

TEST(ImageGrid, CentresImagesOfDifferentSizes) {
  const Image page = image_grid({{plain(8, 8)}, {plain(2, 4)}}, {.zoom = 2});
  EXPECT_EQ(count_colour(page, kOwn), 16 * 16 + 4 * 8);
  // The second cell starts a gap of 16 to the right of the first, at 24 + 16 + 16.
  EXPECT_EQ(count_colour(page, {56, 0, 4, page.shape().height}, kOwn), 0);
  EXPECT_EQ(count_colour(page, {60, 0, 8, page.shape().height}, kOwn), 4 * 8);
}

TEST(ImageGrid, WritesRightOnesInGreenAndWrongOnesInRed) {
  std::vector<GridCell> cells = batch(1);
  EXPECT_EQ(image_grid(cells).shape().channels, 1);
  cells[0].prediction = GridPrediction{"boot", 0.934, true};
  const Image right = image_grid(cells);
  EXPECT_EQ(right.shape().channels, 3);
  EXPECT_GT(count_colour(right, kGreen), 20);
  EXPECT_EQ(count_colour(right, kRed), 0);
  cells[0].prediction->right = false;
  const Image wrong = image_grid(cells);
  EXPECT_EQ(count_colour(wrong, kGreen), 0);
  EXPECT_EQ(count_colour(wrong, kRed), count_colour(right, kGreen));
}

TEST(ImageGrid, ProbabilitiesAreRoundedToPerCent) {
  const auto page_of = [](double probability) {
    std::vector<GridCell> cells = batch(1);
    cells[0].prediction = GridPrediction{"boot", probability, true};
    return image_grid(cells);
  };
  EXPECT_EQ(page_of(0.934), page_of(0.93));
  EXPECT_NE(page_of(0.936), page_of(0.93));
  EXPECT_EQ(page_of(std::numeric_limits<double>::quiet_NaN()),
            page_of(std::numeric_limits<double>::infinity()));
  EXPECT_NE(page_of(std::numeric_limits<double>::quiet_NaN()), page_of(0));
}

TEST(ImageGrid, TextNeverCoversAnImage) {
  const std::string odd = "\xFF\xC3 \xF0\x9F\x94\xA5 \n" + std::string(3000, 'y');
  std::vector<GridCell> cells = batch(20, odd);
  for (GridCell& cell : cells) cell.prediction = GridPrediction{odd, 0.5, false};
  const Image page = image_grid(cells, {.columns = 6, .zoom = 3, .title = odd});
  EXPECT_EQ(count_colour(page, kOwn), 20 * 24 * 24);
  EXPECT_TRUE(test::has_margin(page, 12));
}

TEST(ImageGrid, TextTakesRoomOnlyWhereThereIsText) {
  const int bare = image_grid(batch(1, "")).shape().height;
  EXPECT_LT(bare, image_grid(batch(1)).shape().height);
  EXPECT_LT(bare, image_grid(batch(1, ""), {.title = "t"}).shape().height);
}

TEST(ImageGrid, IsRgbWhereAnyImageIs) {
  const Image page = image_grid({{plain(8, 8)}, {plain(8, 8, 3)}}, {.zoom = 1});
  EXPECT_EQ(page.shape().channels, 3);
  EXPECT_EQ(count_colour(page, kOwn), 2 * 64);
}

TEST(ImageGrid, RefusesWrongInput) {
  EXPECT_THAT(message_of([] { return image_grid({}); }), HasSubstr("at least one image"));
  EXPECT_THAT(message_of([] { return image_grid({{Image(), "a"}}); }), HasSubstr("0x0"));
  EXPECT_THAT(message_of([] { return image_grid(batch(1), {.columns = 0}); }),
              HasSubstr("number of columns. Expected 1 or more, got 0"));
  EXPECT_THAT(message_of([] { return image_grid(batch(1), {.rows = -1}); }),
              HasSubstr("number of rows"));
  EXPECT_THAT(message_of([] { return image_grid(batch(1), {.zoom = -1}); }), HasSubstr("got -1"));
}

TEST(ImageGrid, RefusesPagesThatAreTooLargeBeforeTakingMemory) {
  for (const int zoom : {INT_MAX, 1 << 17, 100'000, 2000}) {
    EXPECT_THAT(message_of([&] { return image_grid(batch(1), {.zoom = zoom}); }),
                HasSubstr("too large"));
  }
  const ImageGridOptions all{.columns = INT_MAX, .rows = INT_MAX, .zoom = 100};
  EXPECT_THAT(message_of([&] { return image_grid(batch(2000), all); }), HasSubstr("too large"));
}

}  // namespace
}  // namespace stoker
