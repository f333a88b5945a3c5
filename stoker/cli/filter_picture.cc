#include "stoker/cli/filter_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/kernels/correlation/correlation.h"

namespace stoker {
namespace {

[[noreturn]] void refuse(std::string found) {
  throw Error({.what = "cannot read the kernel",
               .expected = "an odd number of rows of an odd number of numbers each",
               .found = std::move(found),
               .hint = "write it like \"1 0 -1; 2 0 -2; 1 0 -1\""});
}

std::vector<float> parse_row(const std::string& text) {
  std::vector<float> values;
  const char* place = text.c_str();
  for (;;) {
    place += std::strspn(place, " ,\t\n");
    if (*place == '\0') return values;
    char* end = nullptr;
    const float value = std::strtof(place, &end);
    if (end == place || !std::isfinite(value)) refuse(fmt::format("\"{}\"", place));
    values.push_back(value);
    place = end;
  }
}

// What a value is multiplied with for the picture.
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

Image to_picture(const std::vector<float>& values, const ImageShape& shape, float scale) {
  Image picture(shape);
  std::uint8_t* out = picture.view().data;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(std::min(255.0F, std::abs(values[i]) * scale + 0.5F));
  }
  return picture;
}

}  // namespace

KernelText parse_kernel(std::string_view text) {
  KernelText kernel;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::vector<float> row = parse_row(std::string(text.substr(begin, end - begin)));
    begin = end + 1;
    // A semicolon after the last row.
    if (row.empty() && begin > text.size() && kernel.rows > 0) break;
    if (kernel.rows > 0 && static_cast<int>(row.size()) != kernel.columns) {
      refuse(fmt::format("rows of {} and {}", kernel.columns, row.size()));
    }
    kernel.columns = static_cast<int>(row.size());
    ++kernel.rows;
    kernel.values.insert(kernel.values.end(), row.begin(), row.end());
  }
  if (kernel.rows % 2 == 0 || kernel.columns % 2 == 0) {
    refuse(fmt::format("{} rows of {}", kernel.rows, kernel.columns));
  }
  return kernel;
}

Image correlation_picture(const ImageView& grey, const Plane<const float>& kernel) {
  const auto image = plane_of(grey);
  std::vector<float> values(image.size());
  correlate(Plane<float>(values.data(), image.rows, image.columns), image, kernel);
  return to_picture(values, grey.shape, scale_of(kernel));
}

Image sobel_picture(const ImageView& grey, const Plane<const float>& filter) {
  const auto image = plane_of(grey);
  std::vector<float> values(image.size());
  sobel(Plane<float>(values.data(), image.rows, image.columns), image, filter);
  return to_picture(values, grey.shape, scale_of(filter));
}

Image filter_picture(const ImageView& grey, const NamedFilter& filter) {
  return filter.correlation_only ? correlation_picture(grey, filter.plane())
                                 : sobel_picture(grey, filter.plane());
}

}  // namespace stoker
