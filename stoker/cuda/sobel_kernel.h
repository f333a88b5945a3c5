// The Sobel operator in one pass. Contract: stoker/kernels/sobel/sobel.h.
#pragma once

#include <cmath>

#include "stoker/cuda/correlation_kernel.h"

namespace stoker::cuda {

// Every step is rounded as in the reference; nvcc would fuse one of the products into the sum.
#ifdef __CUDACC__
STOKER_DEVICE float length(float x, float y) {
  return sqrtf(__fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)));
}
STOKER_DEVICE double length(double x, double y) {
  return sqrt(__dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)));
}
#else
template <class T>
T length(T x, T y) {
  return std::sqrt(x * x + y * y);
}
#endif

// One thread a pixel, filters of any size.
template <class In, class T>
STOKER_KERNEL(256)
void sobel_pixel_kernel(Output<T> out, Input<In> image, PlaneShape shape, Input<T> weights,
                        KernelShape filter) {
  const PixelPlace at = pixel_place(shape);
  if (at.y >= shape.rows || at.x >= shape.columns) return;
  const T gx = correlation_at<T, In>(image, shape, weights, filter, at.y, at.x);
  const T gy = correlation_at<T, In>(image, shape, weights, filter, at.y, at.x, true);
  out[at.y * shape.out_stride + at.x] = length(gx, gy);
}

template <class T, int Reach>
using SobelTile = ImageTile<T, Reach, 2>;

// The filter, and the filter transposed, row by row.
template <class T, int Reach>
struct SobelWeights {
  ConstantWeights<T, (2 * Reach + 1) * (2 * Reach + 1)> across;
  ConstantWeights<T, (2 * Reach + 1) * (2 * Reach + 1)> down;
};

// From shared memory; both sums are made from one tile. Side > 0 where the filter is a square of
// fixed size.
template <class In, class T, int Reach, int Side>
STOKER_KERNEL(256)
void sobel_tiled_kernel(Output<T> out, Input<In> image, PlaneShape shape,
                        STOKER_CONSTANT SobelWeights<T, Reach> weights, KernelShape filter,
                        bool packed, bool packed_out) {
  using Tile = SobelTile<T, Reach>;
  STOKER_SHARED(T, tile, Tile::kValues);
  const int side = filter.rows > filter.columns ? filter.rows : filter.columns;
  const int reach = Side > 0 ? Side / 2 : side / 2;
  const TilePlace place = tile_place<Tile>(shape, reach, reach);
  fill_tile<Tile, T, In>(tile, image, shape, place, packed);
  STOKER_BARRIER(tile_filled);
  T gx[Tile::kOwnRows][Tile::kOwnColumns] = {}, gy[Tile::kOwnRows][Tile::kOwnColumns] = {};
  add_correlation<Tile, Side, Side, T>(gx, tile, place, weights.across.values, filter.rows,
                                       filter.columns);
  add_correlation<Tile, Side, Side, T>(gy, tile, place, weights.down.values, filter.columns,
                                       filter.rows);
  STOKER_UNROLL
  for (int r = 0; r < Tile::kOwnRows; ++r) {
    STOKER_UNROLL
    for (int c = 0; c < Tile::kOwnColumns; ++c) gx[r][c] = length(gx[r][c], gy[r][c]);
  }
  store_tile<Tile, T>(out, gx, shape, place, packed_out);
}

}  // namespace stoker::cuda
