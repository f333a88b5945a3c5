// Filters for `stoker filter`: a kernel from the words of a flag, and pictures of what kernels make
// of an image. Functions without state, safe from any thread. Cost: the kernel's, and memory for
// four bytes a pixel.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/image/image.h"
#include "stoker/kernels/plane.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {

struct KernelText {
  int rows = 0;
  int columns = 0;
  std::vector<float> values;

  [[nodiscard]] Plane<const float> plane() const noexcept { return {values.data(), rows, columns}; }
};

// Numbers with spaces or commas between them, rows with semicolons: "1 0 -1; 2 0 -2; 1 0 -1".
// Throws Error unless all rows are of the same, odd length, and there is an odd number of them.
[[nodiscard]] KernelText parse_kernel(std::string_view text);

// Pictures of a grey image, of its size. Values are divided by the filter's weights of one sign,
// the larger sum of the two, so that a step from black to white comes out white whatever the
// filter, and pictures of different filters can be compared; beyond that they are cut off. The sign
// is dropped.
[[nodiscard]] Image correlation_picture(const ImageView& grey, const Plane<const float>& kernel);
[[nodiscard]] Image sobel_picture(const ImageView& grey, const Plane<const float>& filter);

// The one of both that the filter is meant for.
[[nodiscard]] Image filter_picture(const ImageView& grey, const NamedFilter& filter);

}  // namespace stoker
