#include "stoker/kernels/blend/blend.h"

#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/rng.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

class BlendEveryVersion : public testing::Test {
 protected:
  ~BlendEveryVersion() override { force_simd("auto"); }
};

constexpr float kFactors[] = {0, 0.1F, 0.27F, 0.5F, 1, 1.3F, 1.9F, 7};

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  Rng rng({.seed = seed}, 0);
  std::vector<std::uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(rng.uniform_int(256));
  return bytes;
}

TEST_F(BlendEveryVersion, EqualsTheReferenceForAllPairsOfValues) {
  std::vector<std::uint8_t> base(1 << 16), values(1 << 16);
  for (std::size_t i = 0; i < base.size(); ++i) {
    base[i] = static_cast<std::uint8_t>(i);
    values[i] = static_cast<std::uint8_t>(i >> 8);
  }
  for (const float factor : kFactors) {
    std::vector<std::uint8_t> expected = values;
    blend_reference(expected.data(), base.data(), base.size(), factor);
    for (const auto& name : available_simd()) {
      force_simd(name);
      std::vector<std::uint8_t> actual = values;
      blend(actual.data(), base.data(), base.size(), factor);
      ASSERT_EQ(actual, expected) << name << " " << factor;
    }
  }
}

TEST_F(BlendEveryVersion, EqualsTheReferenceForAllLengths) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (std::size_t count = 0; count <= 70; ++count) {
      const auto base = random_bytes(count, 1), values = random_bytes(3 * count, 2);
      auto expected = values, actual = values;
      blend_reference(expected.data(), base.data(), count, 1.7F);
      blend(actual.data(), base.data(), count, 1.7F);
      ASSERT_EQ(actual, expected) << name << " " << count;
      saturate_reference(expected.data(), count, 0.3F);
      saturate(actual.data(), count, 0.3F);
      ASSERT_EQ(actual, expected) << name << " " << count;
      ASSERT_EQ(luma_sum(values.data(), count), luma_sum_reference(values.data(), count)) << name;
    }
  }
}

TEST_F(BlendEveryVersion, SaturatesAsTheReferenceForEveryFactor) {
  const auto values = random_bytes(3 * 4001, 3);
  for (const float factor : kFactors) {
    auto expected = values;
    saturate_reference(expected.data(), 4001, factor);
    for (const auto& name : available_simd()) {
      force_simd(name);
      auto actual = values;
      saturate(actual.data(), 4001, factor);
      ASSERT_EQ(actual, expected) << name << " " << factor;
    }
  }
}

TEST(Blend, DropsTheFractionAndStaysLegal) {
  EXPECT_EQ(blend_value(0, 100, 0.999F), 99);
  EXPECT_EQ(blend_value(10, 20, 0), 10);
  EXPECT_EQ(blend_value(10, 20, 1), 20);
  EXPECT_EQ(blend_value(10, 200, 2), 255);
  EXPECT_EQ(blend_value(200, 10, 2), 0);
}

TEST(Luma, OfGreyIsThatGrey) {
  for (int value = 0; value < 256; ++value) EXPECT_EQ(luma(value, value, value), value);
}

}  // namespace
}  // namespace stoker
