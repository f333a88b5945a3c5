// For tests: an image, a kernel and where they lie, for correlation and Sobel.
#pragma once

#include <vector>

#include "stoker/cuda/test_launch.h"
#include "stoker/kernels/plane.h"

namespace stoker::cuda {

template <class In, class T>
struct ImageCase {
  int rows = 0;
  int columns = 0;
  KernelShape kernel;
  int gap = 0;               // values between rows, in the image and the result
  std::size_t skipped = 0;   // values before the image's first, to break its alignment
  std::vector<T> taps = {};  // of the kernel; random whole numbers where empty

  [[nodiscard]] int stride() const { return columns + gap; }
  [[nodiscard]] PlaneShape shape() const { return {rows, columns, stride(), stride()}; }
  [[nodiscard]] std::size_t values() const { return static_cast<std::size_t>(rows) * stride(); }
  [[nodiscard]] std::vector<In> pixels() const { return random_values<In>(values(), 11); }
  [[nodiscard]] std::vector<T> weights() const {
    if (!taps.empty()) return taps;
    return random_values<T>(static_cast<std::size_t>(kernel.rows) * kernel.columns, 12, -9, 9);
  }
  // What the result holds before, so that gaps can be compared too.
  [[nodiscard]] std::vector<T> before() const { return std::vector<T>(values(), T{77}); }

  // `reference` is called with planes of out, image and kernel.
  template <class Reference>
  [[nodiscard]] std::vector<T> expected(Reference&& reference) const {
    const auto image = pixels();
    const auto kernel_values = weights();
    auto out = before();
    reference(Plane<T>{out.data(), rows, columns, stride()},
              Plane<const In>{image.data(), rows, columns, stride()},
              Plane<const T>{kernel_values.data(), kernel.rows, kernel.columns});
    return out;
  }
};

}  // namespace stoker::cuda
