#include "stoker/kernels/kernel_check.h"

#include <functional>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/rng.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

template <class T>
class Matrix {
 public:
  Matrix(int rows, int columns, std::uint64_t seed)
      : rows_(rows),
        columns_(columns),
        values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
    Rng rng({.seed = seed}, 0);
    for (T& value : values_) value = static_cast<T>(rng.uniform_int(16));
  }
  [[nodiscard]] Plane<T> plane() { return {values_.data(), rows_, columns_}; }
  [[nodiscard]] Plane<const T> plane() const { return {values_.data(), rows_, columns_}; }
  bool operator==(const Matrix&) const = default;

 private:
  int rows_, columns_;
  std::vector<T> values_;
};

// `fast` and `reference` both write all of the matrix that they are given.
template <class T>
void compare(KernelCheck& check, const std::string& what, int rows, int columns,
             const std::function<void(const Plane<T>&)>& fast,
             const std::function<void(const Plane<T>&)>& reference) {
  Matrix<T> found(rows, columns, 1), expected(rows, columns, 2);
  fast(found.plane());
  reference(expected.plane());
  ++check.compared;
  if (!(found == expected)) {
    check.different.push_back(fmt::format("{} {}×{} {}", what, rows, columns, active_simd()));
  }
}

template <class In, class T>
void check_filters(KernelCheck& check, const std::string& types, int rows, int columns) {
  const Matrix<In> image(rows, columns, 3);
  for (const auto& [down, across] : {std::pair{3, 3}, {5, 3}, {7, 7}, {15, 15}}) {
    const Matrix<T> kernel(down, across, 4);
    const std::string size = fmt::format("{} {}×{}", types, down, across);
    compare<T>(
        check, "correlation " + size, rows, columns,
        [&](const Plane<T>& out) { correlate(out, image.plane(), kernel.plane()); },
        [&](const Plane<T>& out) { correlate_reference(out, image.plane(), kernel.plane()); });
    if constexpr (!std::is_integral_v<T>) {
      compare<T>(
          check, "Sobel " + size, rows, columns,
          [&](const Plane<T>& out) { sobel(out, image.plane(), kernel.plane()); },
          [&](const Plane<T>& out) { sobel_reference(out, image.plane(), kernel.plane()); });
    }
  }
}

template <class T>
void check_maximum(KernelCheck& check, const char* type, int rows, int columns) {
  const Matrix<T> a(rows, columns, 3), b(rows, columns, 4);
  compare<T>(
      check, fmt::format("maximum {}", type), rows, columns,
      [&](const Plane<T>& out) { maximum(out, a.plane(), b.plane()); },
      [&](const Plane<T>& out) { maximum_reference(out, a.plane(), b.plane()); });
}

template <class T>
void check_gram(KernelCheck& check, const char* type, int rows, int columns) {
  const Matrix<T> x(rows, columns, 3);
  compare<T>(
      check, fmt::format("X·Xᵀ {}", type), rows, rows,
      [&](const Plane<T>& out) { gram(out, x.plane()); },
      [&](const Plane<T>& out) { gram_reference(out, x.plane()); });
}

void check_shape(KernelCheck& check, int rows, int columns) {
  check_filters<float, float>(check, "f32", rows, columns);
  check_filters<double, double>(check, "f64", rows, columns);
  check_filters<std::uint8_t, float>(check, "u8 f32", rows, columns);
  check_filters<std::int32_t, std::int32_t>(check, "i32", rows, columns);
  check_filters<std::uint8_t, std::int32_t>(check, "u8 i32", rows, columns);
  check_maximum<std::uint8_t>(check, "u8", rows, columns);
  check_maximum<std::int32_t>(check, "i32", rows, columns);
  check_maximum<std::int64_t>(check, "i64", rows, columns);
  check_gram<float>(check, "f32", rows, columns);
  check_gram<double>(check, "f64", rows, columns);
}

}  // namespace

KernelCheck check_cpu_kernels() {
  KernelCheck check;
  const std::string active = active_simd();
  for (const std::string& version : available_simd()) {
    force_simd(version);
    for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 4}, {33, 129}, {96, 131}}) {
      check_shape(check, rows, columns);
    }
  }
  force_simd(active);
  return check;
}

}  // namespace stoker
