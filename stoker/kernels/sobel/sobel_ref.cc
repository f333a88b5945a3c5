#include <cmath>
#include <vector>

#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

template <class T, class In>
void sobel_by_parts(const Plane<T>& out, const Plane<const In>& image,
                    const Plane<const T>& filter) {
  std::vector<T> transposed(filter.size()), gx(image.size()), gy(image.size());
  for (int i = 0; i < filter.rows; ++i) {
    for (int j = 0; j < filter.columns; ++j) transposed[j * filter.rows + i] = filter.at(i, j);
  }
  const Plane<T> along(gx.data(), image.rows, image.columns);
  const Plane<T> down(gy.data(), image.rows, image.columns);
  correlate_reference(along, image, filter);
  correlate_reference(down, image, Plane<const T>(transposed.data(), filter.columns, filter.rows));
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.columns; ++x) {
      const T a = along.at(y, x), b = down.at(y, x);
      out.at(y, x) = std::sqrt(a * a + b * b);
    }
  }
}

}  // namespace

void sobel_reference(const Plane<float>& out, const Plane<const float>& image,
                     const Plane<const float>& filter) {
  sobel_by_parts(out, image, filter);
}

void sobel_reference(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                     const Plane<const float>& filter) {
  sobel_by_parts(out, image, filter);
}

void sobel_reference(const Plane<double>& out, const Plane<const double>& image,
                     const Plane<const double>& filter) {
  sobel_by_parts(out, image, filter);
}

}  // namespace stoker
