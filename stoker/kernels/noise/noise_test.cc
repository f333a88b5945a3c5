#include "stoker/kernels/noise/noise.h"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

class NoiseEveryVersion : public testing::Test {
 protected:
  ~NoiseEveryVersion() override { force_simd("auto"); }
};

TEST_F(NoiseEveryVersion, EqualsTheReferenceForAllLengthsAmplitudesAndAlignments) {
  const RngStream stream = rng_stream({.seed = 9, .epoch = 2, .sample = 77}, 3);
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const double max_noise : {0.0, 0.001, 0.1, 0.5, 1.0}) {
      for (std::size_t count = 0; count <= 210; ++count) {
        std::vector<std::uint8_t> expected(count + 3), actual;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          expected[i] = static_cast<std::uint8_t>(i * 37);
        }
        actual = expected;
        const std::size_t start = count % 3;
        add_noise_reference(expected.data() + start, count, noise_amplitude(max_noise), stream);
        add_noise(actual.data() + start, count, noise_amplitude(max_noise), stream);
        ASSERT_EQ(actual, expected) << name << " " << max_noise << " " << count;
      }
    }
  }
}

TEST_F(NoiseEveryVersion, EqualsTheReferenceForEveryByte) {
  const RngStream stream = rng_stream({.seed = 1}, 0);
  std::vector<std::uint8_t> values(256 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i / 64);
  std::vector<std::uint8_t> expected = values;
  add_noise_reference(expected.data(), expected.size(), noise_amplitude(1), stream);
  for (const auto& name : available_simd()) {
    force_simd(name);
    std::vector<std::uint8_t> actual = values;
    add_noise(actual.data(), actual.size(), noise_amplitude(1), stream);
    EXPECT_EQ(actual, expected) << name;
  }
}

TEST(Noise, StaysWithinItsBoundsAndFillsThem) {
  constexpr int kBound = 26;  // 0.1 * 255 = 25.5, rounded away from the pixel at most
  std::vector<std::uint8_t> values(100'000, 128);
  add_noise(values.data(), values.size(), noise_amplitude(0.1), rng_stream({.seed = 4}, 0));
  std::array<double, 2 * kBound + 1> counts{};
  for (const std::uint8_t value : values) {
    ASSERT_LE(std::abs(value - 128), kBound);
    ++counts[value - 128 + kBound];
  }
  // Uniform over 51 whole levels; the outermost two get half a level each, and rounding to the
  // nearest splits evenly.
  const double expected = static_cast<double>(values.size()) / 51;
  double chi_square = 0;
  for (int level = 2; level < 2 * kBound - 1; ++level) {
    chi_square += std::pow(counts[level] - expected, 2) / expected;
  }
  EXPECT_LE(chi_square, 49 + 5 * std::sqrt(98.0));
}

TEST(Noise, EachValueGetsItsOwn) {
  std::vector<std::uint8_t> values(4096, 128);
  add_noise(values.data(), values.size(), noise_amplitude(0.5), rng_stream({.seed = 4}, 0));
  // Correlation with the neighbour, and with the value a tile away.
  for (const std::size_t lag : {1U, 4U, 32U, 64U}) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < values.size(); ++i) {
      sum += (values[i] - 128.0) * (values[i + lag] - 128.0);
    }
    const double variance = std::pow(127.5, 2) / 3;
    EXPECT_LE(std::abs(sum / 4096 / variance), 5 / std::sqrt(4096.0)) << lag;
  }
}

TEST(Noise, BlackAndWhiteStayLegal) {
  std::vector<std::uint8_t> values(1024, 0);
  add_noise(values.data(), 512, noise_amplitude(1), rng_stream({.seed = 4}, 0));
  int black = 0;
  for (int i = 0; i < 512; ++i) black += values[i] == 0;
  EXPECT_NEAR(black, 256, 60);  // half of the noise points below black
}

TEST(Noise, RefusesAmplitudesOutsideTheScale) {
  EXPECT_THROW(static_cast<void>(noise_amplitude(-0.1)), Error);
  EXPECT_THROW(static_cast<void>(noise_amplitude(1.1)), Error);
  EXPECT_THROW(static_cast<void>(noise_amplitude(std::nan(""))), Error);
}

}  // namespace
}  // namespace stoker
