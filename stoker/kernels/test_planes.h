// For tests: a matrix that owns its values, with a gap after every row that must stay as it was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "stoker/core/rng.h"
#include "stoker/kernels/plane.h"

namespace stoker::test {

template <class T>
class Matrix {
 public:
  Matrix(int rows, int columns, int gap = 0)
      : rows_(rows),
        columns_(columns),
        gap_(gap),
        values_(static_cast<std::size_t>(rows) * stride()) {
    for (int y = 0; y < rows; ++y) std::fill_n(plane().row(y) + columns, gap, kUntouched);
  }

  [[nodiscard]] Plane<T> plane() { return {values_.data(), rows_, columns_, stride()}; }
  [[nodiscard]] Plane<const T> plane() const { return {values_.data(), rows_, columns_, stride()}; }
  // Values and gaps.
  bool operator==(const Matrix&) const = default;
  [[nodiscard]] bool gaps_untouched() const {
    for (int y = 0; y < rows_; ++y) {
      const T* end = plane().row(y) + columns_;
      if (std::count(end, end + gap_, kUntouched) != gap_) return false;
    }
    return true;
  }

 private:
  static constexpr T kUntouched = 77;
  [[nodiscard]] int stride() const { return columns_ + gap_; }

  int rows_, columns_, gap_;
  std::vector<T> values_;
};

// Whole numbers in [low, high], or with `fraction` real ones.
template <class T>
Matrix<T> random_matrix(int rows, int columns, Rng& rng, double low, double high,
                        bool fraction = std::is_floating_point_v<T>, int gap = 0) {
  Matrix<T> result(rows, columns, gap);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const double whole = low + rng.uniform_int(static_cast<std::uint32_t>(high - low + 1));
      result.plane().at(y, x) = static_cast<T>(fraction ? rng.uniform(low, high) : whole);
    }
  }
  return result;
}

}  // namespace stoker::test
