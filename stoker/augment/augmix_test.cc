#include "stoker/augment/augmix.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "stoker/augment/policy.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

TEST(AugMix, WeightsAddUpToOne) {
  // A black image stays black whatever is mixed, if no weight goes below; a value that all changes
  // keep stays if they add up to one. Solarizing and posterizing at the lowest severity keep 240.
  const Policy policy = Policy::parse("augmix(1,5,3,0.2)");
  const Image black({.height = 12, .width = 12, .channels = 3});
  Image light({.height = 12, .width = 12, .channels = 3});
  std::fill_n(light.view().data, light.shape().bytes(), std::uint8_t{240});
  for (std::uint64_t sample = 0; sample < 300; ++sample) {
    ASSERT_EQ(policy.apply(black.view(), {.sample = sample}), black);
    ASSERT_EQ(policy.apply(light.view(), {.sample = sample}), light);
  }
}

TEST(AugMix, StaysNearerToTheImageThanItsChains) {
  const Image in = test::blob(48);
  const Policy policy = Policy::parse("augmix(10,3,-1,1)");
  int changed_samples = 0;
  double far = 0;
  for (std::uint64_t sample = 0; sample < 100; ++sample) {
    const Image out = policy.apply(in.view(), {.seed = 3, .sample = sample});
    changed_samples += out != in;
    double difference = 0;
    for (std::size_t i = 0; i < in.shape().bytes(); ++i) {
      difference += std::abs(in.view().data[i] - out.view().data[i]);
    }
    far += difference / static_cast<double>(in.shape().bytes()) / 100;
  }
  EXPECT_GT(changed_samples, 90);
  EXPECT_GT(far, 1);
  EXPECT_LT(far, 60);
}

}  // namespace
}  // namespace stoker
