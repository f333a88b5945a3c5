#include "stoker/kernels/sobel/sobel.h"

#include <algorithm>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/kernels/correlation/detail/tiles.h"
#include "stoker/kernels/detail/row_bands.h"

namespace stoker {
namespace {

// Products that a core does in the time that makes a thread worth its start.
constexpr double kProductsPerThread = 1e6;

template <class T>
void check(const Plane<T>& out, int rows, int columns, const Plane<const T>& filter) {
  if (out.rows != rows || out.columns != columns) {
    throw Error({.what = "cannot take the Sobel operator",
                 .expected = fmt::format("a result of the image's size, {} x {}", rows, columns),
                 .found = fmt::format("{} x {}", out.rows, out.columns)});
  }
  if (filter.rows < 1 || filter.columns < 1 || filter.rows % 2 == 0 || filter.columns % 2 == 0) {
    throw Error({.what = "cannot take the Sobel operator",
                 .expected = "a filter with an odd number of rows and of columns",
                 .found = fmt::format("{} x {}", filter.rows, filter.columns),
                 .hint = "add a row or column of zeros"});
  }
}

// Filter and transpose in the middle of squares of the same size, zeros around them.
template <class T>
detail::TileKernel<T> both(const Plane<const T>& filter) {
  const int side = std::max(filter.rows, filter.columns);
  const auto size = static_cast<std::size_t>(side) * side;
  detail::TileKernel<T> result{side, side, std::vector<T>(size), std::vector<T>(size)};
  for (int i = 0; i < filter.rows; ++i) {
    for (int j = 0; j < filter.columns; ++j) {
      const int row = i + (side - filter.rows) / 2, column = j + (side - filter.columns) / 2;
      result.values[row * side + column] = filter.at(i, j);
      result.second[column * side + row] = filter.at(i, j);
    }
  }
  return result;
}

template <class T, class In>
void sobel_any(const Plane<T>& out, const Plane<const In>& image, const Plane<const T>& filter,
               const SobelOptions& options) {
  check(out, image.rows, image.columns, filter);
  if (!detail::direct_available()) return sobel_reference(out, image, filter);
  if (image.empty()) return;
  const detail::TileKernel<T> kernels = both(filter);
  const double products = 2.0 * static_cast<double>(image.size() * kernels.values.size());
  const int threads = detail::worthwhile_threads(options.threads, products, kProductsPerThread);
  detail::for_row_bands(image.rows, detail::kTileRows, threads, [&](int top, int bottom) {
    detail::TileWorker<In, T, T>(image).band(out, kernels, top, bottom);
  });
}

}  // namespace

void sobel(const Plane<float>& out, const Plane<const float>& image,
           const Plane<const float>& filter, const SobelOptions& options) {
  sobel_any(out, image, filter, options);
}

void sobel(const Plane<float>& out, const Plane<const std::uint8_t>& image,
           const Plane<const float>& filter, const SobelOptions& options) {
  sobel_any(out, image, filter, options);
}

void sobel(const Plane<double>& out, const Plane<const double>& image,
           const Plane<const double>& filter, const SobelOptions& options) {
  sobel_any(out, image, filter, options);
}

}  // namespace stoker
