// The loops of correlation and Sobel on a tile: a few output rows, and for each the input rows
// under the kernel, as pointers. Whoever cuts an image into tiles sees to borders: rows outside
// point at zeros, columns outside are copied with zeros around them. One file for all instruction
// sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::detail {

// out[y][x] = sum of kernel[i][j] * in[y + i][x + j]; with `second`, sqrt(that² + the other's²).
template <class T, class Out = T>
struct DirectTile {
  const T* const* in = nullptr;  // rows + kernel_rows - 1 pointers
  Out* out = nullptr;
  std::ptrdiff_t out_stride = 0;
  int rows = 0;
  int columns = 0;            // at least direct_block_columns(sizeof(T))
  const T* kernel = nullptr;  // row by row without gaps
  const T* second = nullptr;  // for Sobel, of the same shape
  int kernel_rows = 0;        // odd, like columns
  int kernel_columns = 0;
  bool stream = false;  // around the caches, for results much larger than they are
};

// False where this instruction set has no vectors.
[[nodiscard]] bool direct_available();

// Columns that are computed together: tiles are no narrower.
[[nodiscard]] int direct_block_columns(std::size_t value_bytes);

void direct(const DirectTile<float>& tile);
void direct(const DirectTile<double>& tile);
void direct(const DirectTile<std::int32_t>& tile);
// Whole numbers below 2^24 computed in f32.
void direct(const DirectTile<float, std::int32_t>& tile);

// out[x] = in[x], for x in [0, count).
void widen(float* out, const std::uint8_t* in, std::size_t count);

}  // namespace stoker::detail
