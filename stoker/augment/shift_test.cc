#include "stoker/augment/shift.h"

#include <climits>

#include <gtest/gtest.h>

#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Shift, MovesLeftAndUpAndFillsWithBlack) {
  for (const int channels : {1, 3}) {
    const Image in = test::random_image({.height = 12, .width = 17, .channels = channels}, 1);
    for (const int dx : {-17, -3, 0, 2, 16, 30}) {
      for (const int dy : {-12, -1, 0, 5, 11, 40}) {
        const Image out = shift(in.view(), dx, dy);
        for (int y = 0; y < 12; ++y) {
          for (int x = 0; x < 17; ++x) {
            const bool inside = y + dy >= 0 && y + dy < 12 && x + dx >= 0 && x + dx < 17;
            for (int c = 0; c < channels; ++c) {
              ASSERT_EQ(out.at(y, x, c), inside ? in.at(y + dy, x + dx, c) : 0)
                  << dx << " " << dy << " at " << y << " " << x;
            }
          }
        }
      }
    }
  }
}

TEST(Shift, ByAnythingAnIntHoldsIsSafe) {
  const Image in = test::random_image({.height = 4, .width = 4}, 1);
  for (const int far : {INT_MIN, INT_MAX}) EXPECT_EQ(shift(in.view(), far, far), Image(in.shape()));
}

}  // namespace
}  // namespace stoker
