#include "stoker/report/heat_overlay.h"

#include <array>

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(HeatOverlay, IsRedWhereTheHeatIsAndBlueElsewhere) {
  const Image grey(ImageShape{8, 8, 1});
  const std::array<float, 4> heat = {1, 0, 0, 0};  // above, left
  const Image out = heat_overlay(grey.view(), heat, 2, 2);
  EXPECT_EQ(out.shape(), (ImageShape{8, 8, 3}));
  EXPECT_GT(out.view().at(0, 0, 0), out.view().at(0, 0, 2));
  EXPECT_GT(out.view().at(7, 7, 2), out.view().at(7, 7, 0));
}

TEST(HeatOverlay, LetsTheImageShineThrough) {
  Image image(ImageShape{4, 4, 3});
  image.view().row(2)[2 * 3 + 1] = 255;
  const std::array<float, 1> heat = {0};
  const Image out = heat_overlay(image.view(), heat, 1, 1);
  EXPECT_GT(out.view().at(2, 2, 1), out.view().at(1, 2, 1) + 100);
}

TEST(HeatOverlay, ChangesSmoothly) {
  const Image black(ImageShape{1, 64, 1});
  const std::array<float, 2> heat = {0, 1};
  const Image out = heat_overlay(black.view(), heat, 1, 2);
  for (int x = 1; x < 64; ++x) {
    for (int c = 0; c < 3; ++c) {
      EXPECT_LE(std::abs(out.view().at(0, x, c) - out.view().at(0, x - 1, c)), 20) << x;
    }
  }
}

TEST(HeatOverlay, RefusesAMapOfAnotherSize) {
  const Image black(ImageShape{4, 4, 1});
  const std::array<float, 3> heat = {0, 0, 0};
  EXPECT_THROW((void)heat_overlay(black.view(), heat, 2, 2), Error);
}

}  // namespace
}  // namespace stoker
