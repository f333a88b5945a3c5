// Policies on images of 16 bits or four channels: framing, geometry, noise and erasing work, other
// operations are refused by name before the first image.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/augment/flip.h"
#include "stoker/augment/policy.h"
#include "stoker/augment/registry.h"
#include "stoker/augment/rotate.h"
#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

using test::random_image;
using testing::ElementsAre;
using testing::HasSubstr;

std::uint16_t value(const Image& image, int y, int x, int c = 0) {
  return image.view().values<std::uint16_t>(y)[x * image.shape().channels + c];
}

TEST(WideImages, AreFlippedExactly) {
  for (const int channels : {1, 3, 4}) {
    for (const int depth : {8, 16}) {
      const Image in = random_image({5, 9, channels, depth}, 1);
      EXPECT_EQ(flip_horizontally(flip_horizontally(in.view()).view()), in);
      EXPECT_EQ(flip_vertically(flip_vertically(in.view()).view()), in);
      if (depth == 8) continue;
      EXPECT_EQ(value(flip_horizontally(in.view()), 2, 3), value(in, 2, 5));
      EXPECT_EQ(value(flip_vertically(in.view()), 1, 3, channels - 1),
                value(in, 3, 3, channels - 1));
    }
  }
}

TEST(WideImages, AreRotatedByQuartersExactly) {
  const Image in = random_image({7, 7, 4, 16}, 2);
  const Image out = rotate(in.view(), 90);
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 7; ++x) EXPECT_EQ(value(out, 6 - x, y, 3), value(in, y, x, 3));
  }
}

TEST(WideImages, AreFramedAsTheirChannelsAre) {
  const Image in = random_image({30, 40, 4, 16}, 3);
  const Frame frame{.region = {0, 0, 40, 30}, .width = 20, .height = 15, .cut = {3, 2, 9, 8}};
  Frame whole = frame;
  whole.cut = {0, 0, 20, 15};
  Image all({15, 20, 4, 16}), cut({8, 9, 4, 16});
  FramingScratch scratch;
  apply_frame(all.view(), in.view(), whole_image(in.shape()), whole, {}, scratch);
  apply_frame(cut.view(), in.view(), whole_image(in.shape()), frame, {}, scratch);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 9; ++x) EXPECT_EQ(value(cut, y, x, 2), value(all, y + 2, x + 3, 2));
  }
}

TEST(WideImages, AreErasedWithTheByteTimes257) {
  Image in = random_image({20, 20, 3, 16}, 4);
  const Image out = Policy::parse("erase(1,0.2,0.3,1,1,100)").apply(in.view(), {.seed = 1});
  int erased = 0;
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) {
      if (value(out, y, x, 1) != value(in, y, x, 1)) {
        EXPECT_EQ(value(out, y, x, 1), 100 * 257);
        ++erased;
      }
    }
  }
  EXPECT_GT(erased, 60);
  EXPECT_LT(erased, 140);
}

TEST(WideImages, GetTheSameBytesOnEveryInstructionSet) {
  const Policy policy =
      Policy::parse("rotate(-15,15),shift(-2,2),noise(0.1),hflip(0.5),perspective(0.4,1),erase(1)");
  for (const ImageShape& shape : {ImageShape{31, 33, 1, 16}, {31, 33, 4, 16}, {31, 33, 4, 8}}) {
    const Image in = random_image(shape, 5);
    EXPECT_NO_THROW(policy.check(shape));
    std::vector<Image> results;
    for (const auto& name : available_simd()) {
      force_simd(name);
      results.push_back(policy.apply(in.view(), {.seed = 7, .sample = 3}));
    }
    force_simd("auto");
    for (const Image& result : results) EXPECT_EQ(result, results.front());
    EXPECT_NE(results.front(), in);
  }
}

TEST(WideImages, RefuseOtherOperationsByName) {
  const Policy policy = Policy::parse("resize(8,8),hflip(0.5),brightness(0.5,1.5),noise(0.1)");
  EXPECT_NO_THROW(policy.check({8, 8, 3}));
  const std::string deep = message_of([&] { policy.check({8, 8, 1, 16}); });
  EXPECT_THAT(deep, HasSubstr("brightness(0.5,1.5"));
  EXPECT_THAT(deep, HasSubstr("works on 8-bit images"));
  EXPECT_THAT(deep, HasSubstr("`depth` 8"));
  const std::string rgba = message_of([&] { policy.check({8, 8, 4}); });
  EXPECT_THAT(rgba, HasSubstr("works on images with 1 or 3 channels"));
  EXPECT_THAT(rgba, HasSubstr("`channels` 3"));
  const Image image({8, 8, 1, 16});
  EXPECT_ANY_THROW((void)policy.apply(image.view(), {}));
}

// Whatever an operation says that it takes, it takes: all shapes, without touching other memory.
TEST(WideImages, AreTakenByWhatSaysSo) {
  std::vector<std::string> takers;
  for (const OperationSchema& schema : builtin_operations()) {
    const Policy policy = Policy::parse(schema.example);
    if (policy.empty()) continue;  // a framing
    try {
      policy.check({8, 8, 4, 16});
    } catch (const Error&) {
      continue;
    }
    takers.push_back(schema.name);
    for (const ImageShape& shape : {ImageShape{1, 1, 4, 16}, {9, 14, 1, 16}, {28, 28, 4, 8}}) {
      const Image in = random_image(shape, 6);
      EXPECT_EQ(policy.apply(in.view(), {.seed = 2}).shape(), shape) << schema.name;
    }
  }
  std::ranges::sort(takers);
  EXPECT_THAT(takers,
              ElementsAre("erase", "hflip", "noise", "perspective", "rotate", "scale", "shear_x",
                          "shear_y", "shift", "skew", "translate_x", "translate_y", "vflip"));
}

}  // namespace
}  // namespace stoker
