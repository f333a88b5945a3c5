#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "stoker/kernels/correlation/correlation.h"

namespace stoker {
namespace {

// Whole numbers are summed without sign, where going beyond 32 bits is defined and wraps around.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;

template <class Out, class In>
Out correlation_at(const Plane<const In>& image, const Plane<const Out>& kernel, int y, int x) {
  Sum<Out> sum = 0;
  for (int i = 0; i < kernel.rows; ++i) {
    for (int j = 0; j < kernel.columns; ++j) {
      const int row = y + i - kernel.rows / 2, column = x + j - kernel.columns / 2;
      if (row < 0 || row >= image.rows || column < 0 || column >= image.columns) continue;
      sum += static_cast<Sum<Out>>(kernel.at(i, j)) * static_cast<Sum<Out>>(image.at(row, column));
    }
  }
  return static_cast<Out>(sum);
}

template <class Out, class In>
void correlate_all(const Plane<Out>& out, const Plane<const In>& image,
                   const Plane<const Out>& kernel) {
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.columns; ++x) out.at(y, x) = correlation_at(image, kernel, y, x);
  }
}

}  // namespace

void correlate_reference(const Plane<float>& out, const Plane<const float>& image,
                         const Plane<const float>& kernel) {
  correlate_all(out, image, kernel);
}

void correlate_reference(const Plane<double>& out, const Plane<const double>& image,
                         const Plane<const double>& kernel) {
  correlate_all(out, image, kernel);
}

void correlate_reference(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& image,
                         const Plane<const std::int32_t>& kernel) {
  correlate_all(out, image, kernel);
}

void correlate_reference(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                         const Plane<const float>& kernel) {
  correlate_all(out, image, kernel);
}

void correlate_reference(const Plane<std::int32_t>& out, const Plane<const std::uint8_t>& image,
                         const Plane<const std::int32_t>& kernel) {
  correlate_all(out, image, kernel);
}

void correlate_reference(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& image,
                         const Plane<const std::int32_t>& kernel) {
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.columns; ++x) {
      const std::int32_t sum = correlation_at(image, kernel, y, x);
      out.at(y, x) = static_cast<std::uint8_t>(std::clamp(sum, 0, 255));
    }
  }
}

}  // namespace stoker
