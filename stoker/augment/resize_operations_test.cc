#include "stoker/augment/resize_operations.h"

#include <gtest/gtest.h>

#include "stoker/augment/policy.h"
#include "stoker/core/error.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

Frame frame_of(const char* text, int width, int height, std::uint64_t sample = 0) {
  const Policy policy = Policy::parse(text);
  Rng rng = Policy::framing_rng({.seed = 1, .sample = sample});
  return policy.framing()->draw(rng, width, height);
}

TEST(RandomResizedCrop, StaysInTheImageAndInItsRanges) {
  double least = 1, largest = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Region r = frame_of("random_resized_crop(224)", 500, 375, i).region;
    ASSERT_TRUE(r.left >= 0 && r.top >= 0 && r.left + r.width <= 500 && r.top + r.height <= 375);
    const double share = r.width * r.height / (500.0 * 375), ratio = 1.0 * r.width / r.height;
    least = std::min(least, share);
    largest = std::max(largest, share);
    ASSERT_GE(ratio, 0.74);
    ASSERT_LE(ratio, 1.35);
  }
  EXPECT_NEAR(least, 0.08, 0.01);
  EXPECT_GT(largest, 0.95);
}

// torchvision falls back to the middle: here no part of ratio 1 has the whole area.
TEST(RandomResizedCrop, TakesTheMiddleWhereNothingFits) {
  const Region r = frame_of("random_resized_crop(8,1,1,1,1)", 100, 40).region;
  EXPECT_EQ(r, (Region{30, 0, 40, 40}));
  EXPECT_EQ(frame_of("random_resized_crop(8,1,1,1,1)", 1, 1).region, (Region{0, 0, 1, 1}));
}

TEST(Resize, TakesAllOfTheImage) {
  const Frame frame = frame_of("resize(10,20)", 7, 9);
  EXPECT_EQ(frame.filter, ResizeFilter::kBilinear);
  EXPECT_EQ(frame_of("resize(10,20,3)", 7, 9).filter, ResizeFilter::kBicubic);
  EXPECT_EQ(frame_of("resize_crop(20,10,1)", 7, 9).filter, ResizeFilter::kLanczos);
  EXPECT_THROW(frame_of("resize(10,20,5)", 7, 9), Error);
  EXPECT_EQ(Policy::parse("resize_crop(20,10,2)").text(), "resize_crop(20,10)");
  EXPECT_EQ(Policy::parse("resize_crop(20,10,3)").text(), "resize_crop(20,10,3)");
  EXPECT_EQ(frame.region, (Region{0, 0, 7, 9}));
  EXPECT_EQ(frame.width, 20);
  EXPECT_EQ(frame.height, 10);
}

// Sizes as torchvision's Resize(256) and CenterCrop(224) compute them for these images.
TEST(ResizeCrop, IsTorchvisionsArithmetic) {
  Frame frame = frame_of("resize_crop(256,224)", 500, 375);
  EXPECT_EQ(frame.width, 341);
  EXPECT_EQ(frame.height, 256);
  EXPECT_EQ(frame.cut, (Region{58, 16, 224, 224})) << "58.5 goes to the even 58";
  frame = frame_of("resize_crop(256,224)", 375, 500);
  EXPECT_EQ(frame.width, 256);
  EXPECT_EQ(frame.height, 341);
  EXPECT_THROW(frame_of("resize_crop(256,224)", 65000, 1), Error);
}

TEST(Framing, StandsFirstAndAlone) {
  EXPECT_EQ(Policy::parse("hflip(0.5)").framing(), nullptr);
  const Policy policy = Policy::parse("imagenet-train");
  ASSERT_NE(policy.framing(), nullptr);
  EXPECT_EQ(policy.framing()->output_width(), 224);
  EXPECT_EQ(Policy::parse(policy.text()).text(), policy.text());
  EXPECT_THROW(static_cast<void>(Policy::parse("hflip(0.5),resize(10,10)")), Error);
  EXPECT_THROW(static_cast<void>(Policy::parse("resize(10,10),resize_crop(8,8)")), Error);
}

TEST(Framing, CutsWhatItResized) {
  const Image in = test::random_image({.height = 30, .width = 40, .channels = 3}, 1);
  const Frame frame{.region = {0, 0, 40, 30}, .width = 20, .height = 15, .cut = {3, 2, 9, 8}};
  Image all({.height = 15, .width = 20, .channels = 3}),
      cut({.height = 8, .width = 9, .channels = 3});
  FramingScratch scratch;
  Frame whole = frame;
  whole.cut = {0, 0, 20, 15};
  apply_frame(all.view(), in.view(), whole_image(in.shape()), whole, {}, scratch);
  apply_frame(cut.view(), in.view(), whole_image(in.shape()), frame, {}, scratch);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 9; ++x) EXPECT_EQ(cut.at(y, x, 1), all.at(y + 2, x + 3, 1));
  }
}

}  // namespace
}  // namespace stoker
