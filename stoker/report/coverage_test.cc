#include "stoker/report/coverage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

constexpr Colour kWhiteArea{255, 255, 255};

// White on black: a pixel is the share that is covered.
Image painted(const Coverage& coverage, int height, int width) {
  Image image(ImageShape{height, width, 1});
  coverage.paint(image.view(), kWhiteArea);
  return image;
}

// In pixels.
double area_of(const Image& image) {
  double sum = 0;
  for (std::size_t i = 0; i < image.shape().bytes(); ++i) sum += image.view().data[i] / 255.0;
  return sum;
}

TEST(Coverage, ALineAlongPixelsFillsThemAndNoMore) {
  Coverage coverage({0, 0, 20, 10});
  coverage.add_line({-5, 5}, {30, 5}, 2);
  const Image image = painted(coverage, 10, 20);
  for (int x = 0; x < 20; ++x) {
    EXPECT_EQ(image.at(3, x), 0);
    EXPECT_EQ(image.at(4, x), 255);
    EXPECT_EQ(image.at(5, x), 255);
    EXPECT_EQ(image.at(6, x), 0);
  }
}

TEST(Coverage, ALineBetweenPixelsIsShared) {
  Coverage coverage({0, 0, 20, 10});
  coverage.add_line({-5, 5.25}, {30, 5.25}, 2);
  const Image image = painted(coverage, 10, 20);
  EXPECT_EQ(image.at(4, 7), 191);
  EXPECT_EQ(image.at(5, 7), 255);
  EXPECT_EQ(image.at(6, 7), 64);
}

TEST(Coverage, LinesHaveTheSameAreaInEveryDirection) {
  for (int degrees = 0; degrees < 360; degrees += 7) {
    const double angle = degrees * 0.017453292519943295;
    Coverage coverage({0, 0, 100, 100});
    coverage.add_line({50, 50}, {50 + 40 * std::cos(angle), 50 + 40 * std::sin(angle)}, 3);
    // 40 long, 3 wide, and half a disc at either end.
    EXPECT_NEAR(area_of(painted(coverage, 100, 100)), 120 + 7.07, 3) << degrees;
  }
}

TEST(Coverage, EqualsTheDistanceAtEveryPixel) {
  // Every pixel visited, against the rows' shortened runs.
  Rng rng({.seed = 2}, 0);
  const auto place = [&rng] { return static_cast<double>(rng.uniform_int(800)) / 10 - 20; };
  for (int i = 0; i < 300; ++i) {
    const Point a{place(), place()};
    const Point b{place(), place()};
    Coverage coverage({0, 0, 40, 40});
    coverage.add_line(a, b, 3);
    const Image image = painted(coverage, 40, 40);
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 40; ++x) {
        const double dx = b.x - a.x, dy = b.y - a.y, px = x + 0.5 - a.x, py = y + 0.5 - a.y;
        const double length2 = dx * dx + dy * dy;
        const double t = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0;
        const double distance = std::hypot(px - t * dx, py - t * dy);
        const double share = std::clamp(0.5 - (distance - 1.5), 0.0, 1.0);
        ASSERT_NEAR(image.at(y, x), share * 255, 1) << i << " at " << x << " " << y;
      }
    }
  }
}

TEST(Coverage, JoinedSegmentsAreNotDarkerThanOneLine) {
  Coverage one({0, 0, 60, 60});
  one.add_line({5, 5}, {55, 35}, 2.5);
  Coverage two({0, 0, 60, 60});
  two.add_line({5, 5}, {30, 20}, 2.5);
  two.add_line({55, 35}, {30, 20}, 2.5);
  EXPECT_EQ(painted(one, 60, 60), painted(two, 60, 60));
}

TEST(Coverage, MarksHaveTheirArea) {
  const auto area = [](Mark mark) {
    Coverage coverage({0, 0, 40, 40});
    coverage.add_mark(mark, {20.3, 19.8}, 8);
    return area_of(painted(coverage, 40, 40));
  };
  EXPECT_NEAR(area(Mark::kDisc), 201, 3);
  EXPECT_NEAR(area(Mark::kSquare), 256, 3);
  EXPECT_NEAR(area(Mark::kDiamond), 256, 3);
}

TEST(Coverage, NothingLeavesTheArea) {
  Coverage coverage({10, 10, 5, 6});
  coverage.add_line({-1e7, -1e7}, {1e7, 1e7}, 50);
  coverage.add_line({12, 12}, {12, 12}, 100);
  coverage.add_mark(Mark::kDiamond, {1e7, 0}, 3);
  const Image image = painted(coverage, 40, 40);
  EXPECT_NEAR(area_of(image), 30, 1e-9);
  EXPECT_EQ(image.at(10, 10), 255);
  EXPECT_EQ(image.at(15, 14), 255);
  EXPECT_EQ(image.at(16, 14), 0);
}

TEST(Coverage, IsCutAtTheBordersOfTheImage) {
  Coverage coverage({-5, -5, 50, 50});
  coverage.add_line({-100, 1}, {100, 1}, 200);
  EXPECT_NEAR(area_of(painted(coverage, 10, 20)), 200, 1e-9);
}

TEST(Coverage, BlendsOverWhatIsThere) {
  Image image(ImageShape{1, 1, 3});
  fill_rect(image.view(), {0, 0, 1, 1}, {100, 200, 0});
  Coverage coverage({0, 0, 1, 1});
  coverage.add_line({-9, 0}, {9, 0}, 1);  // half of the pixel
  coverage.paint(image.view(), {200, 100, 255});
  EXPECT_NEAR(image.at(0, 0, 0), 150, 1);
  EXPECT_NEAR(image.at(0, 0, 1), 150, 1);
  EXPECT_NEAR(image.at(0, 0, 2), 128, 1);
}

TEST(Coverage, RefusesANegativeArea) { EXPECT_THROW(Coverage({0, 0, -1, 5}), InvariantError); }

}  // namespace
}  // namespace stoker
