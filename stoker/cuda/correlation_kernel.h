// Correlation. Contract: stoker/kernels/correlation/correlation.h. In is the image's type, T that
// of weights, sums and result. All sum the taps in the order of the kernel's rows; a GPU's fused
// multiply-adds round once where the reference rounds twice.
#pragma once

#include "stoker/cuda/image_tile.h"

namespace stoker::cuda {

struct KernelShape {
  int rows = 0;
  int columns = 0;
};

// One pixel's sum; weights row by row without gaps. Transposed: of the transposed kernel.
template <class T, class In, class Weights>
STOKER_DEVICE T correlation_at(Input<In> image, const PlaneShape& shape, const Weights& weights,
                               KernelShape kernel, int y, int x, bool transposed = false) {
  const int down = transposed ? kernel.columns : kernel.rows;
  const int across = transposed ? kernel.rows : kernel.columns;
  T sum{};
  for (int i = 0; i < down; ++i) {
    const int row = y + i - down / 2;
    if (row < 0 || row >= shape.rows) continue;
    for (int j = 0; j < across; ++j) {
      const int column = x + j - across / 2;
      if (column < 0 || column >= shape.columns) continue;
      const In value = image[row * shape.stride + column];
      const T weight = weights[transposed ? j * kernel.columns + i : i * kernel.columns + j];
      sum = plus_product(sum, static_cast<T>(value), weight);
    }
  }
  return sum;
}

// One thread a pixel, kernels of any size; a grid of one dimension, blocks of 32×8 threads.
inline constexpr int kPixelBlockColumns = 32;
inline constexpr int kPixelBlockRows = 8;

struct PixelPlace {
  int y = 0;
  int x = 0;
};
STOKER_DEVICE PixelPlace pixel_place(const PlaneShape& shape) {
  const auto across =
      static_cast<unsigned>((shape.columns + kPixelBlockColumns - 1) / kPixelBlockColumns);
  PixelPlace place;
  place.y = static_cast<int>(blockIdx.x / across * kPixelBlockRows + threadIdx.y);
  place.x = static_cast<int>(blockIdx.x % across * kPixelBlockColumns + threadIdx.x);
  return place;
}

template <class In, class T>
STOKER_KERNEL(256)
void correlation_pixel_kernel(Output<T> out, Input<In> image, PlaneShape shape, Input<T> weights,
                              KernelShape kernel) {
  const PixelPlace at = pixel_place(shape);
  if (at.y >= shape.rows || at.x >= shape.columns) return;
  out[at.y * shape.out_stride + at.x] =
      correlation_at<T, In>(image, shape, weights, kernel, at.y, at.x);
}

// Sizes of the tiled kernels. Larger kernels reach further and get fewer rows a thread, which
// leaves room for two blocks with constant weights on the smallest multiprocessor.
template <class T, int Reach>
using CorrelationTile = ImageTile<T, Reach, Reach <= 5 ? 4 : 2>;
// f64 weights of 31×31 are 7.7 KB of the 32 KB that arguments may have.
template <class T, int Reach>
using CorrelationWeights = ConstantWeights<T, (2 * Reach + 1) * (2 * Reach + 1)>;

// From shared memory, with weights in constant memory. Rows, Columns > 0 where they are fixed.
template <class In, class T, int Reach, int Rows, int Columns>
STOKER_KERNEL(256)
void correlation_tiled_kernel(Output<T> out, Input<In> image, PlaneShape shape,
                              STOKER_CONSTANT CorrelationWeights<T, Reach> weights,
                              KernelShape kernel, bool packed, bool packed_out) {
  using Tile = CorrelationTile<T, Reach>;
  STOKER_SHARED(T, tile, Tile::kValues);
  const TilePlace place = tile_place<Tile>(shape, Rows > 0 ? Rows / 2 : kernel.rows / 2,
                                           Columns > 0 ? Columns / 2 : kernel.columns / 2);
  fill_tile<Tile, T, In>(tile, image, shape, place, packed);
  STOKER_BARRIER(tile_filled);
  T sums[Tile::kOwnRows][Tile::kOwnColumns] = {};
  add_correlation<Tile, Rows, Columns, T>(sums, tile, place, weights.values, kernel.rows,
                                          kernel.columns);
  store_tile<Tile, T>(out, sums, shape, place, packed_out);
}

// The same for weights that are on the GPU already, as an operator gets them: they go into shared
// memory first.
template <class In, class T, int Reach>
STOKER_KERNEL(256)
void correlation_loaded_kernel(Output<T> out, Input<In> image, PlaneShape shape, Input<T> weights,
                               KernelShape kernel, bool packed, bool packed_out) {
  using Tile = CorrelationTile<T, Reach>;
  STOKER_SHARED(T, tile, Tile::kValues);
  STOKER_SHARED(T, loaded, (2 * Reach + 1) * (2 * Reach + 1));
  const int thread = static_cast<int>(threadIdx.y * Tile::kThreadsAcross + threadIdx.x);
  for (int i = thread; i < kernel.rows * kernel.columns; i += Tile::kThreads) {
    loaded[i] = static_cast<T>(weights[i]);
  }
  const TilePlace place = tile_place<Tile>(shape, kernel.rows / 2, kernel.columns / 2);
  fill_tile<Tile, T, In>(tile, image, shape, place, packed);
  STOKER_BARRIER(tile_filled);
  T sums[Tile::kOwnRows][Tile::kOwnColumns] = {};
  add_correlation<Tile, 0, 0, T>(sums, tile, place, loaded, kernel.rows, kernel.columns);
  store_tile<Tile, T>(out, sums, shape, place, packed_out);
}

}  // namespace stoker::cuda
