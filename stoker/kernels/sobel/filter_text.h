// Kernels and filters from the words of a flag.
//   a matrix          "1 0 -1; 2 0 -2; 1 0 -1": spaces or commas between numbers, semicolons
//                     between rows
//   column x row      "1,2,1,2,1 x 1,0,-1": their outer product, here 5 rows of 3
// Functions without state, safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/plane.h"

namespace stoker {

// Limits of what a flag may say: sums over a whole kernel of bytes stay far below what f32 holds.
inline constexpr int kMostFilterSide = 99;
inline constexpr float kMostFilterWeight = 1e6F;

struct FilterText {
  std::string name;  // of a named filter, else ""
  int rows = 0;
  int columns = 0;
  // True where the image is |correlation| with this filter alone, not the Sobel operator.
  bool correlation_only = false;
  std::vector<float> values;  // row by row

  [[nodiscard]] Plane<const float> plane() const noexcept { return {values.data(), rows, columns}; }
};

// A matrix, or column x row. Throws Error unless rows are of the same length, both sides are odd
// and at most kMostFilterSide, and the numbers are finite and at most ±kMostFilterWeight.
[[nodiscard]] FilterText parse_kernel(std::string_view text);

// Additionally a filter's name, or its number in the documents: 1 to 4 are f1 to f4.
[[nodiscard]] FilterText parse_filter(std::string_view text);

}  // namespace stoker
