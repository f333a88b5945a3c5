// The larger of two whole numbers, value by value: out[y][x] = max(a[y][x], b[y][x]). Exact in
// every version. All planes have the same shape; out may be a or b itself, but not overlap them
// otherwise. Cost: memory's. Two values are read and one written for one comparison, so beyond the
// caches more threads help only until they have used up the memory's bandwidth. Functions without
// state, safe from any thread.
#pragma once

#include <cstdint>

#include "stoker/kernels/plane.h"

namespace stoker {

struct MaximumOptions {
  int threads = 0;  // 0: as many as the process may use
};

// Throw Error where shapes differ.
void maximum(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& a,
             const Plane<const std::uint8_t>& b, const MaximumOptions& options = {});
void maximum(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& a,
             const Plane<const std::int32_t>& b, const MaximumOptions& options = {});
void maximum(const Plane<std::int64_t>& out, const Plane<const std::int64_t>& a,
             const Plane<const std::int64_t>& b, const MaximumOptions& options = {});

void maximum_reference(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& a,
                       const Plane<const std::uint8_t>& b);
void maximum_reference(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& a,
                       const Plane<const std::int32_t>& b);
void maximum_reference(const Plane<std::int64_t>& out, const Plane<const std::int64_t>& a,
                       const Plane<const std::int64_t>& b);

}  // namespace stoker
