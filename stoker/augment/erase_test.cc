#include "stoker/augment/erase.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/augment/policy.h"
#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Erase, CoversTheBoxAndNothingElse) {
  for (const int channels : {1, 3}) {
    const Image in = test::random_image({.height = 9, .width = 12, .channels = channels}, 1);
    const Image out = erase(in.view(), {.y = 2, .x = 3, .height = 4, .width = 5}, 7);
    for (int y = 0; y < 9; ++y) {
      for (int x = 0; x < 12; ++x) {
        const bool inside = y >= 2 && y < 6 && x >= 3 && x < 8;
        for (int c = 0; c < channels; ++c) ASSERT_EQ(out.at(y, x, c), inside ? 7 : in.at(y, x, c));
      }
    }
  }
}

TEST(Erase, RefusesBoxesThatLeaveTheImage) {
  const Image in({.height = 9, .width = 12});
  for (const Box& box : {Box{-1, 0, 2, 2}, Box{0, 11, 1, 2}, Box{8, 0, 2, 1}, Box{0, 0, -1, 2}}) {
    EXPECT_THROW(static_cast<void>(erase(in.view(), box, 0)), Error);
  }
}

TEST(DrawEraseBox, StaysInItsRanges) {
  Rng rng({.seed = 1}, 0);
  double smallest = 1, largest = 0, log_ratio = 0;
  for (int i = 0; i < 5000; ++i) {
    const Box box = draw_erase_box(rng, {.height = 224, .width = 224}, {});
    ASSERT_TRUE(box.y >= 0 && box.x >= 0 && box.y + box.height <= 224 && box.x + box.width <= 224);
    const double area = box.height * box.width / (224.0 * 224);
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    log_ratio += std::log(static_cast<double>(box.height) / box.width) / 5000;
  }
  EXPECT_NEAR(smallest, 0.02, 0.001);
  EXPECT_NEAR(largest, 0.33, 0.005);
  EXPECT_NEAR(log_ratio, 0, 0.05);  // as many high as wide ones
}

TEST(DrawEraseBox, GivesUpWhereNoneFits) {
  Rng rng({.seed = 1}, 0);
  EXPECT_EQ(draw_erase_box(rng, {.height = 1, .width = 50}, {.area = {0.5, 0.6}}), Box{});
}

TEST(Erase, FillsWithRandomBytesWhereAsked) {
  const Image in({.height = 64, .width = 64, .channels = 3});
  const Image out = Policy::parse("erase(1,0.3,0.3,1,1,-1)").apply(in.view(), {.seed = 4});
  double sum = 0;
  int changed_values = 0;
  for (std::size_t i = 0; i < out.shape().bytes(); ++i) {
    sum += out.view().data[i];
    changed_values += out.view().data[i] != 0;
  }
  EXPECT_NEAR(changed_values, 0.3 * 64 * 64 * 3, 60);
  EXPECT_NEAR(sum / changed_values, 128, 6);
}

}  // namespace
}  // namespace stoker
