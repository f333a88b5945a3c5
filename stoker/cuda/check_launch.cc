#include "stoker/cuda/detail/check_launch.h"

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker::cuda::detail {
namespace {

std::string text_of(const PlaneSize& size) { return fmt::format("{}×{}", size.rows, size.columns); }

bool same_shape(const PlaneSize& a, const PlaneSize& b) {
  return a.rows == b.rows && a.columns == b.columns;
}

void check_shape(const char* operation, const PlaneSize& out, const PlaneSize& expected) {
  if (same_shape(out, expected)) return;
  throw Error({.what = fmt::format("cannot run {} on the GPU", operation),
               .expected = fmt::format("a result of {}", text_of(expected)),
               .found = text_of(out)});
}

void check_no_gaps(const char* operation, const char* what, const PlaneSize& size) {
  if (size.stride == size.columns || size.rows <= 1) return;
  throw Error({.what = fmt::format("cannot run {} on the GPU", operation),
               .expected = fmt::format("{} without gaps between rows", what),
               .found = fmt::format("rows of {} values, {} apart", size.columns, size.stride)});
}

}  // namespace

void fail_launch(const char* operation, const char* reason) {
  throw Error(
      {.what = fmt::format("cannot run {} on the GPU: {}", operation, reason),
       .hint = "Does `nvidia-smi` see a GPU, and is its driver new enough for the toolkit?"});
}

void check_maximum(const PlaneSize& out, const PlaneSize& a, const PlaneSize& b) {
  check_shape("maximum", out, a);
  check_shape("maximum", out, b);
  for (const auto* size : {&out, &a, &b}) check_no_gaps("maximum", "planes", *size);
}

void check_gram(const PlaneSize& out, const PlaneSize& x) {
  PlaneSize square = out;
  square.rows = square.columns = x.rows;
  check_shape("X·Xᵀ", out, square);
}

void check_filter(const char* operation, const PlaneSize& out, const PlaneSize& image,
                  const PlaneSize& kernel, int most_side) {
  check_shape(operation, out, image);
  check_no_gaps(operation, "a kernel", kernel);
  const bool odd = kernel.rows % 2 == 1 && kernel.columns % 2 == 1;
  const bool fits = most_side == 0 || (kernel.rows <= most_side && kernel.columns <= most_side);
  if (odd && fits) return;
  throw Error({.what = fmt::format("cannot run {} on the GPU", operation),
               .expected = fits ? "a kernel with odd sides"
                                : fmt::format("a kernel of at most {0}×{0}", most_side),
               .found = text_of(kernel),
               .hint = fits ? "" : "Larger kernels must be in the GPU's memory."});
}

}  // namespace stoker::cuda::detail
