// The Sobel operator of any filter f: Gx = correlation with f, Gy = correlation with f transposed,
//   out = sqrt(Gx² + Gy²),
// in one pass without temporaries; see correlation.h for borders and shapes.
// Exactness: for whole-numbered images and filters with sums below 2^24 (f32) or 2^53 (f64) every
// version gives the same bits; otherwise they differ by rounding, as in correlation.h.
// Functions without state, safe from any thread. `out` overlaps neither image nor filter.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "stoker/kernels/plane.h"

namespace stoker {

struct SobelOptions {
  int threads = 0;  // 0: as many as the process may use
};

// Throw Error unless out has the image's shape and the filter odd sides.
void sobel(const Plane<float>& out, const Plane<const float>& image,
           const Plane<const float>& filter, const SobelOptions& options = {});
void sobel(const Plane<float>& out, const Plane<const std::uint8_t>& image,
           const Plane<const float>& filter, const SobelOptions& options = {});
void sobel(const Plane<double>& out, const Plane<const double>& image,
           const Plane<const double>& filter, const SobelOptions& options = {});

// Two reference correlations and the root, value by value.
void sobel_reference(const Plane<float>& out, const Plane<const float>& image,
                     const Plane<const float>& filter);
void sobel_reference(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                     const Plane<const float>& filter);
void sobel_reference(const Plane<double>& out, const Plane<const double>& image,
                     const Plane<const double>& filter);

// The filters of the five images.
struct NamedFilter {
  std::string_view name;
  std::string_view alias = {};  // a second name, or ""
  int rows = 0;
  int columns = 0;
  // True where the image is |correlation| with this filter alone, not the Sobel operator.
  bool correlation_only = false;
  std::array<float, 25> values = {};  // row by row, the first rows * columns

  [[nodiscard]] Plane<const float> plane() const noexcept { return {values.data(), rows, columns}; }
};

// f1 (also sobel3), f2 (also scharr), f3, f4, blur (ones around a zero; correlation only), and two
// that are not in the documents: binomial5x3 (also sobel5x3), binomial5x5 (also sobel5).
[[nodiscard]] std::span<const NamedFilter> named_filters();

// The first five of them, in the documents' order.
[[nodiscard]] std::span<const NamedFilter> document_filters();

// By name or alias; null where there is none.
[[nodiscard]] const NamedFilter* find_filter(std::string_view name);

// Throws Error that lists the names.
[[nodiscard]] const NamedFilter& named_filter(std::string_view name);

}  // namespace stoker
