// Which kernel runs for which arguments, and with how many threads: host code, compiled by nvcc for
// launch.h and by the host's compiler for the simulator, so the choice is tested too.
//
// A Launcher is called as launch(kernel, grid, block, arguments…).
#pragma once

#include "stoker/cuda/correlation_kernel.h"
#include "stoker/cuda/gram_kernel.h"
#include "stoker/cuda/maximum_kernel.h"
#include "stoker/cuda/sobel_kernel.h"
#include "stoker/cuda/variant.h"

namespace stoker::cuda {

struct LaunchSize {
  unsigned x = 1;
  unsigned y = 1;
};

// Rounded up, at most what a grid may have.
inline unsigned blocks_for(std::int64_t work, std::int64_t work_of_block) {
  const std::int64_t blocks = (work + work_of_block - 1) / work_of_block;
  return static_cast<unsigned>(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF);
}

template <class T, class Launcher>
void run_maximum(Launcher&& launch, Output<T> out, Input<T> a, Input<T> b, std::int64_t count,
                 Variant variant) {
  if (count <= 0) return;
  if (variant == Variant::kPlain) {
    return launch(maximum_kernel<T>, {blocks_for(count, 1000)}, {1000}, out, a, b, count);
  }
  const LaunchSize block{256};
  if (is_aligned(out, 16) && is_aligned(a, 16) && is_aligned(b, 16)) {
    return launch(maximum_packed_kernel<T>, {blocks_for(count, 256 * kPackOf<T>)}, block, out, a, b,
                  count);
  }
  launch(maximum_kernel<T>, {blocks_for(count, 256)}, block, out, a, b, count);
}

template <class T, class Launcher>
void run_gram(Launcher&& launch, Output<T> out, Input<T> x, const GramShape& shape,
              Variant variant) {
  if (shape.rows <= 0) return;
  if (variant == Variant::kPlain) {
    return launch(gram_one_block_kernel<T>, {1}, {1024}, out, x, shape);
  }
  const bool packed = is_aligned(x, 16) && shape.stride % kPackOf<T> == 0;
  const unsigned tiles = blocks_for(shape.rows, kGramTile);
  launch(gram_tiled_kernel<T>, {tiles, tiles}, {kGramThreads, kGramThreads}, out, x, shape, packed);
}

// Blocks of one thread a pixel that cover the image.
inline unsigned pixel_blocks(const PlaneShape& shape) {
  const std::int64_t across = (shape.columns + kPixelBlockColumns - 1) / kPixelBlockColumns;
  const std::int64_t down = (shape.rows + kPixelBlockRows - 1) / kPixelBlockRows;
  return blocks_for(across * down, 1);
}

template <class In>
bool packed_input(const Input<In>& image, const PlaneShape& shape) {
  return is_aligned(image, 16) && shape.stride % kPackOf<In> == 0;
}
template <class T>
bool packed_output(const Output<T>& out, const PlaneShape& shape) {
  return is_aligned(out, 16) && shape.out_stride % kPackOf<T> == 0;
}

// The larger of both sides' reach beyond the centre.
inline int reach_of(KernelShape kernel) {
  return (kernel.rows > kernel.columns ? kernel.rows : kernel.columns) / 2;
}
// The most that the tiled kernels have shared memory for.
inline constexpr int kMostCorrelationReach = 15;
inline constexpr int kMostSobelReach = 3;

template <class Weights, class T>
Weights constant_weights(const T* values, KernelShape kernel) {
  Weights weights;
  for (int i = 0; i < kernel.rows * kernel.columns; ++i) weights.values[i] = values[i];
  return weights;
}

// Weights in the GPU's memory, row by row without gaps; kernels of any size.
template <class In, class T, class Launcher>
void run_correlation(Launcher&& launch, Output<T> out, Input<In> image, const PlaneShape& shape,
                     Input<T> weights, KernelShape kernel, Variant variant) {
  if (shape.rows <= 0 || shape.columns <= 0) return;
  const int reach = reach_of(kernel);
  if (variant == Variant::kPlain || reach > kMostCorrelationReach) {
    return launch(correlation_pixel_kernel<In, T>, {pixel_blocks(shape)},
                  {kPixelBlockColumns, kPixelBlockRows}, out, image, shape, weights, kernel);
  }
  const bool packed = packed_input<In>(image, shape), packed_out = packed_output<T>(out, shape);
  const auto go = [&](auto kernel_function, std::int64_t blocks) {
    launch(kernel_function, {blocks_for(blocks, 1)}, {32, 8}, out, image, shape, weights, kernel,
           packed, packed_out);
  };
  if (reach <= 3) {
    return go(correlation_loaded_kernel<In, T, 3>, tile_blocks<CorrelationTile<T, 3>>(shape));
  }
  go(correlation_loaded_kernel<In, T, 15>, tile_blocks<CorrelationTile<T, 15>>(shape));
}

template <class In, class T, int Reach, int Side, class Launcher>
void launch_tiled_correlation(Launcher&& launch, Output<T> out, Input<In> image,
                              const PlaneShape& shape, const T* weights, KernelShape kernel) {
  launch(correlation_tiled_kernel<In, T, Reach, Side, Side>,
         {blocks_for(tile_blocks<CorrelationTile<T, Reach>>(shape), 1)}, {32, 8}, out, image, shape,
         constant_weights<CorrelationWeights<T, Reach>>(weights, kernel), kernel,
         packed_input<In>(image, shape), packed_output<T>(out, shape));
}

// Weights in the host's memory, no side above 31. Unrolled kernels for f32 and squares of 3, 5 and
// 7: those are what images are filtered with, and each costs its compile time for every
// architecture.
template <class In, class T, class Launcher>
void run_constant_correlation(Launcher&& launch, Output<T> out, Input<In> image,
                              const PlaneShape& shape, const T* weights, KernelShape kernel) {
  if (shape.rows <= 0 || shape.columns <= 0) return;
  const int reach = reach_of(kernel);
  if constexpr (std::is_same_v<T, float>) {
    const int side = kernel.rows == kernel.columns ? kernel.rows : 0;
    if (side == 3) {
      return launch_tiled_correlation<In, T, 1, 3>(launch, out, image, shape, weights, kernel);
    }
    if (side == 5) {
      return launch_tiled_correlation<In, T, 2, 5>(launch, out, image, shape, weights, kernel);
    }
    if (side == 7) {
      return launch_tiled_correlation<In, T, 3, 7>(launch, out, image, shape, weights, kernel);
    }
  }
  if (reach <= 5) {
    return launch_tiled_correlation<In, T, 5, 0>(launch, out, image, shape, weights, kernel);
  }
  launch_tiled_correlation<In, T, 15, 0>(launch, out, image, shape, weights, kernel);
}

// Weights in the GPU's memory.
template <class In, class T, class Launcher>
void run_sobel(Launcher&& launch, Output<T> out, Input<In> image, const PlaneShape& shape,
               Input<T> weights, KernelShape filter) {
  if (shape.rows <= 0 || shape.columns <= 0) return;
  launch(sobel_pixel_kernel<In, T>, {pixel_blocks(shape)}, {kPixelBlockColumns, kPixelBlockRows},
         out, image, shape, weights, filter);
}

template <class In, class T, int Reach, int Side, class Launcher>
void launch_tiled_sobel(Launcher&& launch, Output<T> out, Input<In> image, const PlaneShape& shape,
                        const T* weights, KernelShape filter) {
  SobelWeights<T, Reach> both;
  for (int i = 0; i < filter.rows; ++i) {
    for (int j = 0; j < filter.columns; ++j) {
      both.across.values[i * filter.columns + j] = weights[i * filter.columns + j];
      both.down.values[j * filter.rows + i] = weights[i * filter.columns + j];
    }
  }
  launch(sobel_tiled_kernel<In, T, Reach, Side>,
         {blocks_for(tile_blocks<SobelTile<T, Reach>>(shape), 1)}, {32, 8}, out, image, shape, both,
         filter, packed_input<In>(image, shape), packed_output<T>(out, shape));
}

// Weights in the host's memory, no side above 7. Unrolled kernels for squares of 3 and 5.
template <class In, class T, class Launcher>
void run_constant_sobel(Launcher&& launch, Output<T> out, Input<In> image, const PlaneShape& shape,
                        const T* weights, KernelShape filter) {
  if (shape.rows <= 0 || shape.columns <= 0) return;
  const int side = filter.rows == filter.columns ? filter.rows : 0;
  if (side == 3) return launch_tiled_sobel<In, T, 1, 3>(launch, out, image, shape, weights, filter);
  if (side == 5) return launch_tiled_sobel<In, T, 2, 5>(launch, out, image, shape, weights, filter);
  launch_tiled_sobel<In, T, 3, 0>(launch, out, image, shape, weights, filter);
}

}  // namespace stoker::cuda
