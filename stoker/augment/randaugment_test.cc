#include "stoker/augment/randaugment.h"

#include <cmath>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "stoker/augment/brightness.h"
#include "stoker/augment/detail/choices.h"
#include "stoker/augment/policy.h"
#include "stoker/augment/rotate.h"
#include "stoker/augment/shear.h"
#include "stoker/augment/translate.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

using detail::Change;

TEST(RandAugment, ChoosesEachChangeEquallyOften) {
  const auto check = [](std::span<const detail::Choice> choices) {
    constexpr int kDraws = 140'000;
    Rng rng({.seed = 5}, 0);
    std::map<Change, int> counts, negative;
    for (int i = 0; i < kDraws; ++i) {
      const auto chosen = detail::choose(rng, choices, [](Rng&) { return 0.3; });
      ++counts[chosen.change];
      negative[chosen.change] += chosen.strength < 0;
    }
    ASSERT_EQ(counts.size(), choices.size());
    const double expected = static_cast<double>(kDraws) / static_cast<double>(choices.size());
    double chi_square = 0;
    for (const auto& [change, count] : counts) {
      chi_square += (count - expected) * (count - expected) / expected;
    }
    EXPECT_LE(chi_square, 34.5);  // 13 degrees of freedom: by chance one time in a thousand
    for (const detail::Choice& choice : choices) {
      const int signs = negative[choice.change];
      if (!choice.has_sign) {
        EXPECT_EQ(signs, 0);
      } else {
        EXPECT_NEAR(signs, expected / 2, 5 * std::sqrt(expected) / 2);
      }
    }
  };
  check(detail::randaugment_choices());
  check(detail::trivialaugment_choices());
  check(detail::augmix_choices());
}

// The published table: the ends of the ranges and the middle of them.
TEST(RandAugment, HasThePublishedRanges) {
  const auto strength = [](std::span<const detail::Choice> choices, Change change, double level) {
    for (const detail::Choice& c : choices) {
      if (c.change == change) return c.weakest + (c.strongest - c.weakest) * level;
    }
    return std::nan("");
  };
  const auto rand = detail::randaugment_choices(), wide = detail::trivialaugment_choices();
  EXPECT_EQ(rand.size(), 14U);
  EXPECT_EQ(wide.size(), 14U);
  EXPECT_EQ(detail::augmix_choices().size(), 13U);
  EXPECT_DOUBLE_EQ(strength(rand, Change::kShearX, 1), 0.3);
  EXPECT_DOUBLE_EQ(strength(rand, Change::kRotate, 0.5), 15);
  EXPECT_DOUBLE_EQ(strength(rand, Change::kSolarize, 0), 255);
  EXPECT_DOUBLE_EQ(strength(rand, Change::kSolarize, 1), 0);
  EXPECT_DOUBLE_EQ(strength(rand, Change::kPosterize, 1), 4);
  EXPECT_DOUBLE_EQ(strength(wide, Change::kPosterize, 1), 2);
  EXPECT_DOUBLE_EQ(strength(wide, Change::kTranslateX, 1), 32);
  EXPECT_DOUBLE_EQ(strength(wide, Change::kRotate, 1), 135);
}

TEST(RandAugment, ChangesAreTheOperations) {
  const Image in = test::random_image({.height = 40, .width = 50, .channels = 3}, 1);
  AugmentScratch scratch;
  const auto applied = [&](Change change, double strength, bool share = false) {
    Image out = in;
    detail::apply_change(out.view(),
                         {.change = change, .strength = strength, .share_of_side = share}, scratch);
    return out;
  };
  EXPECT_EQ(applied(Change::kIdentity, 0), in);
  EXPECT_EQ(applied(Change::kRotate, -12), rotate(in.view(), -12));
  EXPECT_EQ(applied(Change::kShearY, 0.2), shear_y(in.view(), 0.2));
  EXPECT_EQ(applied(Change::kTranslateX, 0.3, true), translate_x(in.view(), 0.3));
  EXPECT_EQ(applied(Change::kTranslateY, -7.9), translate_y(in.view(), -7 / 40.0));
  EXPECT_EQ(applied(Change::kBrightness, -0.27), brightness(in.view(), 0.73));
}

// Without translations by chance, which may be empty, most samples of magnitude 9 differ from the
// original.
TEST(RandAugment, DrawsAnewForEachSampleAndEpoch) {
  const Image in = test::random_image({.height = 40, .width = 50, .channels = 3}, 1);
  for (const char* text : {"randaugment(2,9)", "randaugment(3,12,2)", "trivialaugment"}) {
    const Policy policy = Policy::parse(text);
    std::set<std::string> seen;
    for (std::uint64_t sample = 0; sample < 60; ++sample) {
      const Image out = policy.apply(in.view(), {.seed = 1, .epoch = 2, .sample = sample});
      ASSERT_EQ(out, policy.apply(in.view(), {.seed = 1, .epoch = 2, .sample = sample}));
      seen.emplace(out.view().data, out.view().data + out.shape().bytes());
    }
    EXPECT_GT(seen.size(), 15U) << text;
  }
}

TEST(RandAugment, OfNoChangesCopies) {
  const Image in = test::random_image({.height = 4, .width = 5}, 1);
  EXPECT_EQ(Policy::parse("randaugment(0,9)").apply(in.view(), {}), in);
}

}  // namespace
}  // namespace stoker
