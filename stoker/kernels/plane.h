// Plane<T>: a matrix in memory owned elsewhere, rows from the top, `stride` values from one row to
// the next. A plain value: copying it copies no values. Plane<T> becomes Plane<const T> by itself.
#pragma once

#include <cstddef>
#include <type_traits>

namespace stoker {

template <class T>
struct Plane {
  T* data = nullptr;
  int rows = 0;
  int columns = 0;
  std::ptrdiff_t stride = 0;  // in values, not bytes; at least `columns`

  Plane() = default;
  // Without gaps between rows.
  Plane(T* first, int row_count, int column_count)
      : Plane(first, row_count, column_count, column_count) {}
  Plane(T* first, int row_count, int column_count, std::ptrdiff_t values_per_row)
      : data(first), rows(row_count), columns(column_count), stride(values_per_row) {}
  operator Plane<const T>() const noexcept  // NOLINT: as span
      requires(!std::is_const_v<T>) {
    return {data, rows, columns, stride};
  }

  [[nodiscard]] T* row(int y) const noexcept { return data + y * stride; }
  [[nodiscard]] T& at(int y, int x) const noexcept { return row(y)[x]; }
  [[nodiscard]] bool empty() const noexcept { return rows <= 0 || columns <= 0; }
  // No gap between rows: all values are one run.
  [[nodiscard]] bool contiguous() const noexcept { return stride == columns || rows <= 1; }
  [[nodiscard]] std::size_t size() const noexcept {
    return empty() ? 0 : static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
};

}  // namespace stoker
