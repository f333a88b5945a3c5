// What the tiled correlation and Sobel kernels share: a block of 32×8 threads brings the part of
// the image that it needs into shared memory, border of zeros included, and every thread makes a
// small rectangle of results from it.
#pragma once

#include "stoker/cuda/device.h"

namespace stoker::cuda {

struct PlaneShape {
  int rows = 0;
  int columns = 0;
  std::int64_t stride = 0;      // values from row to row of the image
  std::int64_t out_stride = 0;  // and of the result
};

// A kernel's weights by value: CUDA keeps arguments in constant memory, where a whole warp reads
// the same weight at once. A __constant__ variable would be the same memory, but one for all
// streams: two launches under way at the same time would overwrite each other's weights.
template <class T, int Capacity>
struct ConstantWeights {
  T values[Capacity] = {};
};

template <class T>
STOKER_DEVICE constexpr T rounded_up(T value, T multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// T is the type of sums, Reach the most that a kernel reaches beyond its centre.
template <class T, int Reach, int RowsOfThread>
struct ImageTile {
  static constexpr int kThreadsAcross = 32;
  static constexpr int kThreadsDown = 8;
  static constexpr int kThreads = kThreadsAcross * kThreadsDown;
  // A thread's rectangle: as wide as one vector load from shared memory, so that a warp's loads
  // have no bank conflicts, and some rows.
  static constexpr int kOwnColumns = kPackOf<T>;
  static constexpr int kOwnRows = RowsOfThread;
  static constexpr int kColumns = kThreadsAcross * kOwnColumns;
  static constexpr int kRows = kThreadsDown * kOwnRows;
  static constexpr int kReach = Reach;
  static constexpr int kPitch =
      kColumns + (2 * Reach + kOwnColumns - 1) / kOwnColumns * kOwnColumns;
  static constexpr int kValues = kPitch * (kRows + 2 * Reach);
};

// Which tile a block makes, and how far the image is needed around it. A grid of one dimension:
// the others have at most 65,535 blocks.
struct TilePlace {
  int top = 0;
  int left = 0;
  int reach_down = 0;
  int reach_across = 0;
};

template <class Tile>
STOKER_DEVICE TilePlace tile_place(const PlaneShape& shape, int reach_down, int reach_across) {
  const auto across = static_cast<unsigned>((shape.columns + Tile::kColumns - 1) / Tile::kColumns);
  TilePlace place;
  place.top = static_cast<int>(blockIdx.x / across) * Tile::kRows;
  place.left = static_cast<int>(blockIdx.x % across) * Tile::kColumns;
  place.reach_down = reach_down;
  place.reach_across = reach_across;
  return place;
}

// Blocks that cover the image.
template <class Tile>
std::int64_t tile_blocks(const PlaneShape& shape) {
  const std::int64_t across = (shape.columns + Tile::kColumns - 1) / Tile::kColumns;
  const std::int64_t down = (shape.rows + Tile::kRows - 1) / Tile::kRows;
  return across * down;
}

// 16 bytes of the image from (row, column) on, zeros beyond it. The column may be negative.
template <class In>
STOKER_DEVICE Pack<In, kPackOf<In>> image_pack(Input<In> image, const PlaneShape& shape, int row,
                                               int column, bool packed) {
  constexpr int kValues = kPackOf<In>;
  Pack<In, kValues> values{};
  if (row < 0 || row >= shape.rows) return values;
  const std::int64_t from = row * shape.stride + column;
  if (packed && column >= 0 && column + kValues <= shape.columns) {
    return load_pack<kValues>(image, from);
  }
  STOKER_UNROLL
  for (int v = 0; v < kValues; ++v) {
    if (column + v >= 0 && column + v < shape.columns) values.values[v] = image[from + v];
  }
  return values;
}

// tile[r][c] = image[top - reach_down + r][left - reach_across + c]. Reads 16 bytes at a time from
// aligned addresses; values land shifted, so that threads' own columns begin at aligned places.
template <class Tile, class T, class In>
STOKER_DEVICE void fill_tile(Shared<T> tile, Input<In> image, const PlaneShape& shape,
                             const TilePlace& place, bool packed) {
  constexpr int kValues = kPackOf<In>;
  const int needed = Tile::kColumns + rounded_up(2 * place.reach_across, Tile::kOwnColumns);
  const int ahead = rounded_up(place.reach_across, kValues);  // from the first value read to `left`
  const int packs = (ahead - place.reach_across + needed + kValues - 1) / kValues;
  const int rows = Tile::kRows + 2 * place.reach_down;
  const int thread = static_cast<int>(threadIdx.y * Tile::kThreadsAcross + threadIdx.x);
  for (int i = thread; i < rows * packs; i += Tile::kThreads) {
    const int row = i / packs, first = (i - row * packs) * kValues;
    const auto values = image_pack<In>(image, shape, place.top - place.reach_down + row,
                                       place.left - ahead + first, packed);
    const int column = first - (ahead - place.reach_across);
    STOKER_UNROLL
    for (int v = 0; v < kValues; ++v) {
      if (column + v >= 0 && column + v < needed) {
        tile[row * Tile::kPitch + column + v] = static_cast<T>(values.values[v]);
      }
    }
  }
}

// Adds the products of one row of weights to one row of a thread's sums. `begin` is the place in
// the tile of the first tap of the thread's first column, `aligned` where that is a multiple of a
// pack; a window of two packs slides over the taps. Columns > 0 fixes the number of taps, and the
// loop is unrolled.
template <class Tile, int Columns, class T, class Weights>
STOKER_DEVICE void add_row(T (&sums)[Tile::kOwnColumns], Shared<T> tile, int begin, bool aligned,
                           const Weights& weights, int first_weight, int columns) {
  constexpr int kOwn = Tile::kOwnColumns;
  const int taps = Columns > 0 ? Columns : columns;
  const int end = begin + taps - 1 + kOwn;  // of what the thread's columns need
  auto load = [&](int from) {
    if (aligned) return load_pack<kOwn>(tile, from);
    Pack<T, kOwn> values{};
    STOKER_UNROLL
    for (int v = 0; v < kOwn; ++v) {
      if (from + v < end) values.values[v] = tile[from + v];
    }
    return values;
  };
  Pack<T, kOwn> low = load(begin), high{};
  STOKER_UNROLL_BY(Columns > 0 ? Columns : 1)
  for (int tap = 0; tap < taps; tap += kOwn) {
    if (tap + 1 < taps) high = load(begin + tap + kOwn);
    STOKER_UNROLL
    for (int t = 0; t < kOwn; ++t) {
      if (tap + t >= taps) break;
      const T weight = weights[first_weight + tap + t];
      STOKER_UNROLL
      for (int c = 0; c < kOwn; ++c) {
        const T value = t + c < kOwn ? low.values[t + c] : high.values[t + c - kOwn];
        sums[c] = plus_product(sums[c], value, weight);
      }
    }
    low = high;
  }
}

// The correlation of a thread's rectangle with a kernel of rows × columns weights (Rows and Columns
// where they are fixed), added to `sums`. Taps in the order of the kernel's rows, as the reference.
template <class Tile, int Rows, int Columns, class T, class Weights>
STOKER_DEVICE void add_correlation(T (&sums)[Tile::kOwnRows][Tile::kOwnColumns], Shared<T> tile,
                                   const TilePlace& place, const Weights& weights, int rows,
                                   int columns) {
  const int down = Rows > 0 ? Rows : rows, across = Columns > 0 ? Columns : columns;
  const int own_row = static_cast<int>(threadIdx.y) * Tile::kOwnRows;
  const int own_column = static_cast<int>(threadIdx.x) * Tile::kOwnColumns;
  const int skipped = place.reach_across - across / 2;  // columns of the tile that are not needed
  const int first = (own_row + place.reach_down - down / 2) * Tile::kPitch + own_column + skipped;
  STOKER_UNROLL_BY(Rows > 0 ? Rows : 1)
  for (int y = 0; y < down; ++y) {
    STOKER_UNROLL
    for (int r = 0; r < Tile::kOwnRows; ++r) {
      add_row<Tile, Columns, T>(sums[r], tile, first + (r + y) * Tile::kPitch,
                                skipped % Tile::kOwnColumns == 0, weights, y * across, across);
    }
  }
}

// `packed_out`: rows of out begin at multiples of 16 bytes.
template <class Tile, class T>
STOKER_DEVICE void store_tile(Output<T> out, const T (&results)[Tile::kOwnRows][Tile::kOwnColumns],
                              const PlaneShape& shape, const TilePlace& place, bool packed_out) {
  constexpr int kOwn = Tile::kOwnColumns;
  const int column = place.left + static_cast<int>(threadIdx.x) * kOwn;
  STOKER_UNROLL
  for (int r = 0; r < Tile::kOwnRows; ++r) {
    const int row = place.top + static_cast<int>(threadIdx.y) * Tile::kOwnRows + r;
    if (row >= shape.rows) continue;
    const std::int64_t to = row * shape.out_stride + column;
    if (packed_out && column + kOwn <= shape.columns) {
      Pack<T, kOwn> pack;
      STOKER_UNROLL
      for (int c = 0; c < kOwn; ++c) pack.values[c] = results[r][c];
      store_pack<kOwn>(out, to, pack);
      continue;
    }
    STOKER_UNROLL
    for (int c = 0; c < kOwn; ++c) {
      if (column + c < shape.columns) out[to + c] = results[r][c];
    }
  }
}

}  // namespace stoker::cuda
