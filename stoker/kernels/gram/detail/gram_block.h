// The inner loop of X·Xᵀ on packed panels; one file for all instruction sets.
//
// A panel holds `panel` rows of X, column by column: values[k * panel + i] = x[first + i][k], zeros
// where X ends. Packing makes every load aligned and in order.
#pragma once

#include <cstddef>

namespace stoker::detail {

// Depend on the instruction set alone; 0 where it has no vectors or the plain loops are forced.
struct GramShape {
  int rows;   // that one call multiplies with a panel; divides `panel`
  int panel;  // rows of X in a panel
};
[[nodiscard]] GramShape gram_shape(std::size_t value_bytes);

// sums[i * stride + j] = sum over k < depth of left[k * left_step + i] * panel[k * shape.panel +
// j], for i < shape.rows, j < shape.panel. `left` points into another panel, or the same.
template <class T>
struct GramBlock {
  const T* left = nullptr;
  std::ptrdiff_t left_step = 0;
  const T* panel = nullptr;  // aligned to vectors
  int depth = 0;
  T* sums = nullptr;
  std::ptrdiff_t stride = 0;
  bool add = false;  // to what is in sums
};
void gram_block(const GramBlock<float>& block);
void gram_block(const GramBlock<double>& block);

// out[j * out_stride + i] = in[i * in_stride + j] for i < rows, j < columns.
template <class T>
struct Transposition {
  T* out;
  std::ptrdiff_t out_stride;
  const T* in;
  std::ptrdiff_t in_stride;
  int rows, columns;
};
void transpose(const Transposition<float>& job);
void transpose(const Transposition<double>& job);

}  // namespace stoker::detail
