// Errors of launches, kept out of .cu files: what makes messages is slow to compile with nvcc.
#pragma once

#include <cstddef>

namespace stoker::cuda::detail {

// Sizes of a plane, whatever its values are.
struct PlaneSize {
  int rows = 0;
  int columns = 0;
  std::ptrdiff_t stride = 0;

  template <class Plane>
  explicit PlaneSize(const Plane& plane)
      : rows(plane.rows), columns(plane.columns), stride(plane.stride) {}
};

[[noreturn]] void fail_launch(const char* operation, const char* reason);
void check_maximum(const PlaneSize& out, const PlaneSize& a, const PlaneSize& b);
void check_gram(const PlaneSize& out, const PlaneSize& x);
// `most_side` is the largest side of the kernel that is allowed; 0 means any.
void check_filter(const char* operation, const PlaneSize& out, const PlaneSize& image,
                  const PlaneSize& kernel, int most_side);

}  // namespace stoker::cuda::detail
