// X·Xᵀ. Contract: stoker/kernels/gram/gram.h; x has `stride` values from row to row, out has
// `out_stride`. Sums run over the columns in order. Offsets have 64 bits, so every shape that fits
// into memory is right.
#pragma once

#include "stoker/cuda/device.h"

namespace stoker::cuda {

struct GramShape {
  int rows = 0;
  int columns = 0;
  std::int64_t stride = 0;
  std::int64_t out_stride = 0;
};

// One block of 1024 threads (or fewer), whatever the shape: each thread takes every 1024th value
// of out.
template <class T>
STOKER_KERNEL(1024)
void gram_one_block_kernel(Output<T> out, Input<T> x, GramShape shape) {
  const std::int64_t values = std::int64_t{shape.rows} * shape.rows;
  for (std::int64_t e = threadIdx.x; e < values; e += blockDim.x) {
    const std::int64_t i = e / shape.rows, j = e - i * shape.rows;
    T sum{};
    for (int k = 0; k < shape.columns; ++k) {
      const T left = x[i * shape.stride + k], right = x[j * shape.stride + k];
      sum = plus_product(sum, left, right);
    }
    out[i * shape.out_stride + j] = sum;
  }
}

// A block of 16×16 threads makes 64×64 values of out, a thread 4×4 of them, from tiles of 64 rows
// and 16 columns. Blocks above the diagonal have nothing to do: their values are those of a block
// below it, transposed, which writes both. So the work is half of a full product's.
inline constexpr int kGramTile = 64;
inline constexpr int kGramDepth = 16;
inline constexpr int kGramThreads = 16;  // in both directions
inline constexpr int kGramOwn = kGramTile / kGramThreads;
// Four more than the tile: columns stay aligned for vector loads, and stores meet two-way bank
// conflicts instead of eight-way ones.
inline constexpr int kGramPitch = kGramTile + 4;

// tile[k][row] = x[first_row + row][first_column + k], zero beyond x. Each thread brings four
// neighbouring values of one row.
template <class T>
STOKER_DEVICE void fill_gram_tile(Shared<T> tile, Input<T> x, const GramShape& shape, int first_row,
                                  int first_column, bool packed) {
  const int thread = static_cast<int>(threadIdx.y * kGramThreads + threadIdx.x);
  const int row = thread / 4, k = thread % 4 * 4;
  const std::int64_t from = (std::int64_t{first_row} + row) * shape.stride + first_column + k;
  Pack<T, 4> values{};
  if (first_row + row < shape.rows) {
    if (packed && first_column + k + 4 <= shape.columns) {
      values = load_pack<4>(x, from);
    } else {
      STOKER_UNROLL
      for (int v = 0; v < 4; ++v) {
        if (first_column + k + v < shape.columns) values.values[v] = x[from + v];
      }
    }
  }
  STOKER_UNROLL
  for (int v = 0; v < 4; ++v) tile[(k + v) * kGramPitch + row] = values.values[v];
}

template <class T>
STOKER_DEVICE void add_gram_products(T (&sums)[kGramOwn][kGramOwn], Shared<T> left,
                                     Shared<T> right) {
  STOKER_UNROLL
  for (int k = 0; k < kGramDepth; ++k) {
    const auto a = load_pack<kGramOwn>(left, k * kGramPitch + int(threadIdx.y) * kGramOwn);
    const auto b = load_pack<kGramOwn>(right, k * kGramPitch + int(threadIdx.x) * kGramOwn);
    STOKER_UNROLL
    for (int i = 0; i < kGramOwn; ++i) {
      STOKER_UNROLL
      for (int j = 0; j < kGramOwn; ++j) {
        sums[i][j] = plus_product(sums[i][j], a.values[i], b.values[j]);
      }
    }
  }
}

// Grid: tiles × tiles blocks of 16×16 threads. `packed`: rows of x begin at multiples of 16 bytes.
template <class T>
STOKER_KERNEL(256)
void gram_tiled_kernel(Output<T> out, Input<T> x, GramShape shape, bool packed) {
  if (blockIdx.x > blockIdx.y) return;  // the whole block: no thread waits for one that is gone
  STOKER_SHARED(T, left, kGramDepth * kGramPitch);
  STOKER_SHARED(T, right, kGramDepth * kGramPitch);
  const int top = static_cast<int>(blockIdx.y) * kGramTile;
  const int side = static_cast<int>(blockIdx.x) * kGramTile;
  T sums[kGramOwn][kGramOwn] = {};
  for (int column = 0; column < shape.columns; column += kGramDepth) {
    fill_gram_tile<T>(left, x, shape, top, column, packed);
    fill_gram_tile<T>(right, x, shape, side, column, packed);
    STOKER_BARRIER(tiles_filled);
    add_gram_products<T>(sums, left, right);
    STOKER_BARRIER(tiles_used);
  }
  const int first_row = top + static_cast<int>(threadIdx.y) * kGramOwn;
  const int first_column = side + static_cast<int>(threadIdx.x) * kGramOwn;
  STOKER_UNROLL
  for (int i = 0; i < kGramOwn; ++i) {
    STOKER_UNROLL
    for (int j = 0; j < kGramOwn; ++j) {
      const std::int64_t row = first_row + i, other = first_column + j;
      if (row >= shape.rows || other >= shape.rows) continue;
      out[row * shape.out_stride + other] = sums[i][j];
      if (blockIdx.x != blockIdx.y) out[other * shape.out_stride + row] = sums[i][j];
    }
  }
}

}  // namespace stoker::cuda
