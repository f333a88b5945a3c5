#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/portable_math.h"
#include "stoker/kernels/blur/blur.h"

namespace stoker {
namespace {

int weighed(int value, int weight) { return (value * weight + (1 << 14)) >> 15; }

}  // namespace

int detail::reflected(int place, int size) noexcept {
  if (size == 1) return 0;
  const int period = 2 * (size - 1);
  const int within = std::abs(place) % period;
  return within < size ? within : period - within;
}

BlurWeights gaussian_weights(int size, double sigma) {
  if (size < 1 || size > 2 * kMaxBlurRadius + 1 || size % 2 == 0 || !(sigma > 0)) {
    throw Error({.what = "cannot blur an image",
                 .expected = fmt::format("an odd kernel size of 1 to {} and a sigma above 0",
                                         2 * kMaxBlurRadius + 1),
                 .found = fmt::format("size {} and sigma {}", size, sigma)});
  }
  BlurWeights result{.radius = size / 2};
  std::array<double, kMaxBlurRadius + 1> bell{};
  double sum = 0;
  for (int i = 0; i <= result.radius; ++i) {
    bell[i] = portable_exp(-0.5 * (i / sigma) * (i / sigma));
    sum += i == 0 ? bell[i] : 2 * bell[i];
  }
  int middle = 1 << 15;
  for (int i = 1; i <= result.radius; ++i) {
    result.weights[i] = static_cast<std::int16_t>(std::floor(bell[i] / sum * (1 << 15) + 0.5));
    middle -= 2 * result.weights[i];
  }
  while (result.radius > 0 && result.weights[result.radius] == 0) --result.radius;
  // 1 itself does not fit, and 1 - 2^-15 gives the same results.
  result.weights[0] = static_cast<std::int16_t>(std::min(middle, 32767));
  return result;
}

void blur_reference(const MutableImageView& out, const ImageView& in, const BlurWeights& weights) {
  const int height = in.shape.height, width = in.shape.width, channels = in.shape.channels;
  const auto pixel = [&](int y, int x, int c) {
    return 64 * in.at(detail::reflected(y, height), detail::reflected(x, width), c);
  };
  const auto down = [&](int y, int x, int c) {
    int sum = weighed(pixel(y, x, c), weights.weights[0]);
    for (int i = 1; i <= weights.radius; ++i) {
      sum += weighed(pixel(y - i, x, c) + pixel(y + i, x, c), weights.weights[i]);
    }
    return sum;
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        int sum = weighed(down(y, x, c), weights.weights[0]);
        for (int i = 1; i <= weights.radius; ++i) {
          sum += weighed(down(y, x - i, c) + down(y, x + i, c), weights.weights[i]);
        }
        out.row(y)[x * channels + c] = static_cast<std::uint8_t>((sum + 32) >> 6);
      }
    }
  }
}

}  // namespace stoker
