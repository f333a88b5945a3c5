#include "stoker/image/detail/orientation.h"

#include <utility>

#include <gtest/gtest.h>

#include "stoker/image/test_codecs.h"

namespace stoker::detail {
namespace {

// EXIF's definition: where the stored first row and first column are in the upright image.
std::pair<int, int> stored_place(int orientation, int y, int x, const ImageShape& stored) {
  const int bottom = stored.height - 1, right = stored.width - 1;
  switch (orientation) {
    case 2:
      return {y, right - x};  // row: top, column: right
    case 3:
      return {bottom - y, right - x};  // bottom, right
    case 4:
      return {bottom - y, x};  // bottom, left
    case 5:
      return {x, y};  // left, top
    case 6:
      return {bottom - x, y};  // right, top
    case 7:
      return {bottom - x, right - y};  // right, bottom
    case 8:
      return {x, right - y};  // left, bottom
    default:
      return {y, x};
  }
}

Image turned(const Image& stored, int orientation) {
  ImageShape shape = stored.shape();
  if (swaps_sides(orientation)) std::swap(shape.width, shape.height);
  Image upright(shape);
  turn_upright(upright.view(), stored.view(), orientation);
  return upright;
}

TEST(Orientation, PutsEveryPixelWhereExifSays) {
  for (const int channels : {1, 3}) {
    const Image stored = test::pattern_image({5, 7, channels});
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const Image upright = turned(stored, orientation);
      for (int y = 0; y < upright.shape().height; ++y) {
        for (int x = 0; x < upright.shape().width; ++x) {
          const auto [sy, sx] = stored_place(orientation, y, x, stored.shape());
          for (int c = 0; c < channels; ++c) {
            ASSERT_EQ(upright.at(y, x, c), stored.at(sy, sx, c))
                << orientation << ": " << y << "," << x;
          }
        }
      }
    }
  }
}

TEST(Orientation, TurningARegionIsTheRegionOfTheTurned) {
  const Image stored = test::pattern_image({9, 13, 3});
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Image upright = turned(stored, orientation);
    for (const Region& region : {Region{0, 0, 1, 1}, {2, 3, 5, 4}, {0, 1, 9, 8}, {8, 8, 1, 1}}) {
      const Region place = to_stored(region, orientation, 13, 9);
      EXPECT_TRUE(turned(test::cut(stored, place), orientation) == test::cut(upright, region))
          << orientation;
    }
  }
}

TEST(Orientation, BoxesTurnAsRegionsDo) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Region upright{2, 3, 4, 5};
    const Region stored = to_stored(upright, orientation, 13, 11);
    const RegionF box{static_cast<double>(stored.left), static_cast<double>(stored.top),
                      static_cast<double>(stored.width), static_cast<double>(stored.height)};
    EXPECT_EQ(to_upright(box, orientation, 13, 11), (RegionF{2, 3, 4, 5})) << orientation;
  }
}

}  // namespace
}  // namespace stoker::detail
