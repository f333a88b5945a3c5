#include "stoker/image/detail/rows.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace stoker::detail {
namespace {

using Pixel = std::vector<std::uint8_t>;

Pixel converted(RowFormat format, const Pixel& in, int channels, const Colour& background = {}) {
  const std::size_t width = in.size() / static_cast<std::size_t>(channels_of(format));
  Pixel out(width * static_cast<std::size_t>(channels), 99);
  convert_row(out.data(), in.data(), width, format, channels, background);
  return out;
}

TEST(ConvertRow, GreyIsPillowsWeightedSum) {
  EXPECT_EQ(converted(RowFormat::kRgb, {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255}, 1),
            (Pixel{76, 150, 29, 255}));
}

TEST(ConvertRow, GreyOfGreyIsItself) {
  for (int v = 0; v < 256; ++v) {
    const auto value = static_cast<std::uint8_t>(v);
    EXPECT_EQ(converted(RowFormat::kRgb, {value, value, value}, 1), Pixel{value});
    EXPECT_EQ(converted(RowFormat::kGrey, {value}, 3), (Pixel{value, value, value}));
  }
}

TEST(ConvertRow, AlphaMixesWithTheBackgroundRounded) {
  for (int v = 0; v < 256; v += 5) {
    for (int a = 0; a < 256; ++a) {
      const auto value = static_cast<std::uint8_t>(v), alpha = static_cast<std::uint8_t>(a);
      const double exact = (v * a + 200.0 * (255 - a)) / 255;
      const Pixel out = converted(RowFormat::kRgba, {value, value, value, alpha}, 3, {200, 200, 0});
      EXPECT_NEAR(out[0], exact, 0.5);
      EXPECT_EQ(out[1], out[0]);
    }
  }
  EXPECT_EQ(converted(RowFormat::kRgba, {1, 2, 3, 255}, 3, {9, 9, 9}), (Pixel{1, 2, 3}));
  EXPECT_EQ(converted(RowFormat::kRgba, {1, 2, 3, 0}, 3, {7, 8, 9}), (Pixel{7, 8, 9}));
}

// Stored inverted: 255 is no ink.
TEST(ConvertRow, CmykIsInkTakenFromWhite) {
  EXPECT_EQ(converted(RowFormat::kCmyk, {255, 255, 255, 255}, 3), (Pixel{255, 255, 255}));
  EXPECT_EQ(converted(RowFormat::kCmyk, {255, 255, 255, 0}, 3), (Pixel{0, 0, 0}));
  EXPECT_EQ(converted(RowFormat::kCmyk, {0, 255, 255, 255}, 3), (Pixel{0, 255, 255}));
  for (int ink = 0; ink < 256; ++ink) {
    for (int light = 0; light < 256; ++light) {
      const auto c = static_cast<std::uint8_t>(ink), k = static_cast<std::uint8_t>(light);
      EXPECT_NEAR(converted(RowFormat::kCmyk, {c, 0, 255, k}, 3)[0], ink * light / 255.0, 0.5);
    }
  }
}

}  // namespace
}  // namespace stoker::detail
