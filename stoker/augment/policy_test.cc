#include "stoker/augment/policy.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/augment/noise.h"
#include "stoker/augment/rotate.h"
#include "stoker/augment/shift.h"
#include "stoker/augment/skew.h"
#include "stoker/core/error.h"
#include "stoker/core/rng.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

using testing::HasSubstr;

std::string message_of(std::string_view text) {
  try {
    static_cast<void>(Policy::parse(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PolicyText, IsReadBackAsItWasWritten) {
  for (const char* text :
       {"", "noise(0.1)", "rotate(-15,15),shift(-2,2),skew(-0.15,0.15),noise(0.1)",
        "scale(0.9,1.1),noise(0.05),rotate(0,360)"}) {
    EXPECT_EQ(Policy::parse(text).text(), text);
    EXPECT_EQ(Policy::parse(Policy::parse(text).text()).text(), text);
  }
}

TEST(PolicyText, TakesSpacesShortFormsAndPresets) {
  EXPECT_EQ(Policy::parse(" rotate( 15 ) , noise(.5) ").text(), "rotate(-15,15),noise(0.5)");
  EXPECT_EQ(Policy::parse("mnist").text(),
            "rotate(-15,15),shift(-2,2),skew(-0.15,0.15),noise(0.1)");
  EXPECT_TRUE(Policy::parse("none").empty());
}

TEST(PolicyText, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(message_of("rand-m7-n3-mstd0.5-inc1"), HasSubstr("randaugment(3,7,0.5)"));
  EXPECT_THAT(message_of("rand-mstd1"), HasSubstr("randaugment(2,9,1)"));
  EXPECT_THAT(message_of("rotate(1,2"), HasSubstr("at character 11"));
  EXPECT_THAT(message_of("rotate(1,2"), HasSubstr("got its end"));
  EXPECT_THAT(message_of("rotate(a)"), HasSubstr("Expected a number"));
  EXPECT_THAT(message_of("rotate(1) noise(1)"), HasSubstr("between two operations"));
  EXPECT_THAT(message_of("rotate(1),"), HasSubstr("an operation after"));
  EXPECT_THAT(message_of("blurr(1)"), HasSubstr(", rotate, shift, "));
  EXPECT_THAT(message_of("noise"), HasSubstr("noise(max), e.g. noise(0.1)"));
  EXPECT_THAT(message_of("noise(2)"), HasSubstr("Expected 0 to 1, got 2"));
  EXPECT_THAT(message_of("noise(nan)"), HasSubstr("out of range"));
  EXPECT_THAT(message_of("rotate(5,-5)"), HasSubstr("low <= high"));
  EXPECT_THAT(message_of("rotate(1,2,3)"), HasSubstr("got 3 arguments"));
  EXPECT_THAT(message_of("(1)"), HasSubstr("the name of an operation"));
}

TEST(PolicyText, OfMoreOperationsThanThereAreNumbersForIsRefused) {
  std::string text = "noise(0.1)";
  for (int i = 1; i < kMaxOperations; ++i) text += ",noise(0.1)";
  EXPECT_THAT(message_of(text),
              HasSubstr("the policy is too long. Expected fewer than 16384 operations"));
}

TEST(Policy, ASingleOperationIsTheNamedFunction) {
  const Image in = test::random_image({.height = 28, .width = 28}, 1);
  const SampleKey key{.seed = 3, .epoch = 1, .sample = 9};
  EXPECT_EQ(Policy::parse("rotate(90,90)").apply(in.view(), key), rotate(in.view(), 90));
  EXPECT_EQ(Policy::parse("shift(2,2)").apply(in.view(), key), shift(in.view(), 2, 2));
  EXPECT_EQ(Policy::parse("skew(1,1)").apply(in.view(), key), skew(in.view(), 1));
  EXPECT_EQ(Policy::parse("noise(0.2)").apply(in.view(), key),
            add_noise(in.view(), 0.2, rng_stream(key, kPerValueStream)));
}

// Composed into one pass, the image is the same as step by step but for the blur of resampling.
TEST(Policy, ComposedGeometryIsTheSequenceOfOperations) {
  const Image in = test::blob(64);
  const Image composed =
      Policy::parse("rotate(10,10),shift(3,3),skew(0.1,0.1)").apply(in.view(), {});
  const Image stepwise = skew(shift(rotate(in.view(), 10).view(), 3, 3).view(), 0.1);
  double difference = 0, change = 0;
  for (std::size_t i = 0; i < in.shape().bytes(); ++i) {
    difference += std::abs(composed.view().data[i] - stepwise.view().data[i]);
    change += std::abs(composed.view().data[i] - in.view().data[i]);
  }
  EXPECT_GT(change, 50 * difference) << "difference " << difference;
}

TEST(Policy, OrderMatters) {
  const Image in = test::blob(28);
  EXPECT_NE(Policy::parse("rotate(30,30),shift(5,5)").apply(in.view(), {}),
            Policy::parse("shift(5,5),rotate(30,30)").apply(in.view(), {}));
}

TEST(Policy, PixelOperationsMayStandBeforeBetweenAndAfterGeometry) {
  const Image in = test::random_image({.height = 28, .width = 28}, 1);
  const SampleKey key{.seed = 5};
  const auto noise = [&](const Image& image, int place) {
    return add_noise(image.view(), 0.1,
                     rng_stream(key, static_cast<std::uint16_t>(place | kPerValueStream)));
  };
  const Policy policy = Policy::parse("noise(0.1),shift(1,1),noise(0.1),skew(1,1),noise(0.1)");
  Image expected = noise(in, 0);
  expected = noise(shift(expected.view(), 1, 1), 2);
  expected = noise(skew(expected.view(), 1), 4);
  EXPECT_EQ(policy.apply(in.view(), key), expected);
}

TEST(Policy, ScratchCarriesNothingFromImageToImage) {
  const Policy policy = Policy::parse("noise(0.1),rotate(15),noise(0.2),skew(0.2),shift(1)");
  AugmentScratch scratch;
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    const int side = 10 + static_cast<int>(sample * 7 % 30);
    const Image in = test::random_image({.height = side, .width = side + 2}, sample);
    Image out(in.shape());
    policy.apply(out.view(), in.view(), {.seed = 1, .sample = sample}, scratch);
    ASSERT_EQ(out, policy.apply(in.view(), {.seed = 1, .sample = sample}));
  }
}

TEST(Policy, GivesTheSameBytesOnEveryInstructionSet) {
  const Policy policy = Policy::parse("mnist");
  const Image in = test::random_image({.height = 28, .width = 28}, 1);
  for (std::uint64_t sample = 0; sample < 50; ++sample) {
    force_simd("reference");
    const Image expected = policy.apply(in.view(), {.seed = 1, .sample = sample});
    for (const auto& name : available_simd()) {
      force_simd(name);
      ASSERT_EQ(policy.apply(in.view(), {.seed = 1, .sample = sample}), expected) << name;
    }
  }
  force_simd("auto");
}

}  // namespace
}  // namespace stoker
