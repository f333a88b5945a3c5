#include "stoker/report/heat_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// Between the two nearest of `cells` values whose middles are spread over `pixels`.
struct Between {
  int first = 0, second = 0;
  float share = 0;  // of the second
};
Between between(int pixel, int pixels, int cells) {
  const float place =
      (static_cast<float>(pixel) + 0.5F) * static_cast<float>(cells) / static_cast<float>(pixels) -
      0.5F;
  const float clamped = std::clamp(place, 0.0F, static_cast<float>(cells - 1));
  const int first = static_cast<int>(clamped);
  return {.first = first,
          .second = std::min(first + 1, cells - 1),
          .share = clamped - static_cast<float>(first)};
}

// From blue over cyan, green and yellow to red.
std::array<float, 3> heat_colour(float heat) {
  const auto ramp = [&](float middle) {
    return std::clamp(1.5F - std::abs(4 * heat - middle), 0.0F, 1.0F) * 255;
  };
  return {ramp(3), ramp(2), ramp(1)};
}

}  // namespace

Image heat_overlay(const ImageView& image, std::span<const float> heat, int rows, int columns) {
  if (rows < 1 || columns < 1 ||
      heat.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
    throw Error({.what = "a heat map does not have the values it should",
                 .expected = fmt::format("{}x{}", rows, columns),
                 .found = fmt::format("{}", heat.size())});
  }
  constexpr float kHeatShare = 0.45F;
  const auto at = [&](int y, int x) {
    return heat[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                static_cast<std::size_t>(x)];
  };
  Image out(ImageShape{image.shape.height, image.shape.width, 3});
  for (int y = 0; y < image.shape.height; ++y) {
    const Between v = between(y, image.shape.height, rows);
    for (int x = 0; x < image.shape.width; ++x) {
      const Between h = between(x, image.shape.width, columns);
      const float above = std::lerp(at(v.first, h.first), at(v.first, h.second), h.share);
      const float below = std::lerp(at(v.second, h.first), at(v.second, h.second), h.share);
      const std::array<float, 3> colour =
          heat_colour(std::clamp(std::lerp(above, below, v.share), 0.0F, 1.0F));
      for (int c = 0; c < 3; ++c) {
        const auto own = static_cast<float>(image.at(y, x, std::min(c, image.shape.channels - 1)));
        out.view().row(y)[x * 3 + c] = static_cast<std::uint8_t>(
            std::lround(own * (1 - kHeatShare) + colour[static_cast<std::size_t>(c)] * kHeatShare));
      }
    }
  }
  return out;
}

}  // namespace stoker
