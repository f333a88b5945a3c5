// Correlation of bytes with signed bytes, for CPUs with AVX-512 VNNI: one instruction multiplies
// four pairs and adds the products to a 32-bit sum, so four rows of the kernel cost as much as one.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/kernels/plane.h"

namespace stoker::detail {

struct ByteKernel {
  int rows = 0;
  int columns = 0;
  // For groups of four input rows and each column: the weights of those rows for the first to
  // fourth of four output rows, four signed bytes each, zeros above and below the kernel.
  int groups = 0;
  std::vector<std::int32_t> weights = {};
};

// True where the CPU has the instructions and no other version is forced.
[[nodiscard]] bool byte_products_available();

// The weights are in [-128, 127], row by row.
[[nodiscard]] ByteKernel byte_kernel(int rows, int columns,
                                     const std::vector<std::int32_t>& weights);

// Rows [top, bottom) of the result. Exact; bytes are cut off to 0 … 255.
void byte_products_band(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& image,
                        const ByteKernel& kernel, int top, int bottom);
void byte_products_band(const Plane<std::int32_t>& out, const Plane<const std::uint8_t>& image,
                        const ByteKernel& kernel, int top, int bottom);

}  // namespace stoker::detail
