#include "stoker/cli/filter_image.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/core/invariant.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

// What a value is multiplied with for the image.
float scale_of(const Plane<const float>& kernel) {
  constexpr float kEdgeBrightness = 4;
  float positive = 0, negative = 0;
  for (int i = 0; i < kernel.rows; ++i) {
    for (int j = 0; j < kernel.columns; ++j) {
      const float weight = kernel.at(i, j);
      (weight > 0 ? positive : negative) += std::abs(weight);
    }
  }
  const float most = std::max(positive, negative);
  if (most == 0) return 0;
  return (positive == negative ? kEdgeBrightness : 1) / most;
}

Plane<const std::uint8_t> plane_of(const ImageView& grey) {
  STOKER_INVARIANT(grey.shape.channels == 1, "channels={}", grey.shape.channels);
  return {grey.data, grey.shape.height, grey.shape.width,
          static_cast<std::ptrdiff_t>(grey.bytes_per_row)};
}

Image to_image(const std::vector<float>& values, const ImageShape& shape, float scale) {
  Image image(shape);
  std::uint8_t* out = image.view().data;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(std::min(255.0F, std::abs(values[i]) * scale + 0.5F));
  }
  return image;
}

}  // namespace

Image correlation_image(const ImageView& grey, const Plane<const float>& kernel, cuda::Gpu* gpu) {
  const auto image = plane_of(grey);
  std::vector<float> values(image.size());
  const Plane<float> out(values.data(), image.rows, image.columns);
  if (gpu != nullptr) {
    gpu->correlation(out, image, kernel, cuda::Variant::kTiled, 1);
  } else {
    correlate(out, image, kernel);
  }
  return to_image(values, grey.shape, scale_of(kernel));
}

Image sobel_image(const ImageView& grey, const Plane<const float>& filter, cuda::Gpu* gpu) {
  const auto image = plane_of(grey);
  std::vector<float> values(image.size());
  const Plane<float> out(values.data(), image.rows, image.columns);
  if (gpu != nullptr) {
    gpu->sobel(out, image, filter, cuda::Variant::kTiled, 1);
  } else {
    sobel(out, image, filter);
  }
  return to_image(values, grey.shape, scale_of(filter));
}

Image filter_image(const ImageView& grey, const FilterText& filter, cuda::Gpu* gpu) {
  return filter.correlation_only ? correlation_image(grey, filter.plane(), gpu)
                                 : sobel_image(grey, filter.plane(), gpu);
}

}  // namespace stoker
