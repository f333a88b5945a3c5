#include <algorithm>

#include "stoker/kernels/maximum/maximum.h"

namespace stoker {
namespace {

template <class T>
void maximum_all(const Plane<T>& out, const Plane<const T>& a, const Plane<const T>& b) {
  for (int y = 0; y < out.rows; ++y) {
    for (int x = 0; x < out.columns; ++x) out.at(y, x) = std::max(a.at(y, x), b.at(y, x));
  }
}

}  // namespace

void maximum_reference(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& a,
                       const Plane<const std::uint8_t>& b) {
  maximum_all(out, a, b);
}

void maximum_reference(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& a,
                       const Plane<const std::int32_t>& b) {
  maximum_all(out, a, b);
}

void maximum_reference(const Plane<std::int64_t>& out, const Plane<const std::int64_t>& a,
                       const Plane<const std::int64_t>& b) {
  maximum_all(out, a, b);
}

}  // namespace stoker
