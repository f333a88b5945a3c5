#include "stoker/augment/mix.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr BatchShape kShape{.samples = 5, .channels = 2, .height = 4, .width = 6};
constexpr std::size_t kSample = 2 * 4 * 6;

std::vector<float> numbered() {
  std::vector<float> values(5 * kSample);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST(Mixup, IsTheWeightedSumWithThePartner) {
  const std::vector<float> in = numbered();
  std::vector<float> out = in;
  apply_mix(out, kShape, {.kind = Mix::Kind::kMixup, .lambda = 0.75F});
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < kSample; ++k) {
      const float own = in[i * kSample + k], other = in[mix_partner(i, 5) * kSample + k];
      ASSERT_EQ(out[i * kSample + k], 0.75F * own + 0.25F * other);
    }
  }
}

TEST(Cutmix, TakesTheBoxFromThePartner) {
  const std::vector<float> in = numbered();
  std::vector<float> out = in;
  apply_mix(out, kShape,
            {.kind = Mix::Kind::kCutmix, .box = {.y = 1, .x = 2, .height = 2, .width = 3}});
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < kSample; ++k) {
      const std::size_t y = k / 6 % 4, x = k % 6;
      const bool inside = y >= 1 && y < 3 && x >= 2 && x < 5;
      const std::size_t from = inside ? mix_partner(i, 5) : i;
      ASSERT_EQ(out[i * kSample + k], in[from * kSample + k]);
    }
  }
}

TEST(Mix, OfNoneChangesNothing) {
  std::vector<float> out = numbered();
  apply_mix(out, kShape, draw_mix({}, 1, 2, 3, kShape));
  EXPECT_EQ(out, numbered());
}

TEST(Mix, IsAFunctionOfSeedEpochAndBatch) {
  const MixOptions options{.mixup_alpha = 0.2, .cutmix_alpha = 1};
  const BatchShape shape{.samples = 8, .channels = 3, .height = 224, .width = 224};
  const auto lambda = [&](std::uint64_t seed, std::uint32_t epoch, std::uint64_t batch) {
    return draw_mix(options, seed, epoch, batch, shape).lambda;
  };
  EXPECT_EQ(lambda(1, 2, 3), lambda(1, 2, 3));
  EXPECT_NE(lambda(1, 2, 3), lambda(2, 2, 3));
  EXPECT_NE(lambda(1, 2, 3), lambda(1, 3, 3));
  EXPECT_NE(lambda(1, 2, 3), lambda(1, 2, 4));
}

TEST(Mix, ChoosesAsOftenAsTheOptionsSay) {
  const MixOptions options{
      .mixup_alpha = 0.2, .cutmix_alpha = 1, .probability = 0.8, .switch_probability = 0.25};
  int mixups = 0, cutmixes = 0;
  for (std::uint64_t batch = 0; batch < 10'000; ++batch) {
    const Mix mix = draw_mix(options, 1, 0, batch, kShape);
    mixups += mix.kind == Mix::Kind::kMixup;
    cutmixes += mix.kind == Mix::Kind::kCutmix;
  }
  EXPECT_NEAR(mixups, 6000, 250);
  EXPECT_NEAR(cutmixes, 2000, 200);
}

TEST(Mix, OfOneKindAloneIgnoresTheSwitch) {
  for (std::uint64_t batch = 0; batch < 100; ++batch) {
    EXPECT_EQ(draw_mix({.mixup_alpha = 1, .switch_probability = 1}, 1, 0, batch, kShape).kind,
              Mix::Kind::kMixup);
    EXPECT_EQ(draw_mix({.cutmix_alpha = 1, .switch_probability = 0}, 1, 0, batch, kShape).kind,
              Mix::Kind::kCutmix);
  }
}

TEST(Cutmix, LambdaIsWhatTheBoxLeaves) {
  const BatchShape shape{.samples = 2, .channels = 1, .height = 50, .width = 80};
  double mean = 0;
  for (std::uint64_t batch = 0; batch < 5000; ++batch) {
    const Mix mix = draw_mix({.cutmix_alpha = 1}, 1, 0, batch, shape);
    ASSERT_TRUE(mix.box.y >= 0 && mix.box.x >= 0 && mix.box.y + mix.box.height <= 50 &&
                mix.box.x + mix.box.width <= 80);
    ASSERT_NEAR(mix.lambda, 1 - mix.box.height * mix.box.width / 4000.0, 1e-6);
    mean += mix.lambda / 5000;
  }
  EXPECT_GT(mean, 0.55);  // boxes are cut at the border, so more than a half is left
  EXPECT_LT(mean, 0.75);
}

TEST(Mix, RefusesNumbersThatMakeNoSense) {
  EXPECT_NO_THROW(check_mix({.mixup_alpha = 0.2, .cutmix_alpha = 1}));
  EXPECT_THROW(check_mix({.mixup_alpha = -1}), Error);
  EXPECT_THROW(check_mix({.cutmix_alpha = std::nan("")}), Error);
  EXPECT_THROW(check_mix({.probability = 1.5}), Error);
  EXPECT_THROW(check_mix({.switch_probability = -0.5}), Error);
}

}  // namespace
}  // namespace stoker
