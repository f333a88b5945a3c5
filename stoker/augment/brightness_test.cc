#include "stoker/augment/brightness.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(Brightness, MultipliesAndDropsTheFraction) {
  Image in({.height = 1, .width = 4});
  for (int i = 0; i < 4; ++i)
    in.view().data[i] = static_cast<std::uint8_t>(i * 67);  // 0 67 134 201
  const Image out = brightness(in.view(), 1.5);
  EXPECT_EQ(out.at(0, 1), 100);
  EXPECT_EQ(out.at(0, 2), 201);
  EXPECT_EQ(out.at(0, 3), 255);
  EXPECT_EQ(brightness(in.view(), 1), in);
  EXPECT_EQ(brightness(in.view(), 0), Image(in.shape()));
}

TEST(Brightness, RefusesFactorsThatMakeNoSense) {
  const Image in({.height = 2, .width = 2});
  for (const double factor : {-0.1, 101.0, std::nan("")}) {
    EXPECT_THROW(static_cast<void>(brightness(in.view(), factor)), Error) << factor;
  }
}

}  // namespace
}  // namespace stoker
