// Cuts an image into tiles for the loops of direct.h and sees to its borders. Three pieces side by
// side: the middle, where the kernel stays inside the image, is read where it lies; the left and
// right ends, and images of another type than the sums, are copied tile by tile into a small buffer
// with zeros around them.
// One TileWorker a thread; it owns its buffers and looks at the image, the result and the kernels.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "stoker/kernels/correlation/detail/direct.h"
#include "stoker/kernels/plane.h"

namespace stoker::detail {

inline constexpr int kTileRows = 16;      // a multiple of what direct() computes together
inline constexpr int kTileColumns = 512;  // a tile of f32 and a small kernel fits the first cache
inline constexpr std::ptrdiff_t kVectorBytes = 64;
// Results beyond this go around the caches. At 1 MB that costs twice the time, at 64 MB it saves
// a third.
inline constexpr std::size_t kStreamBytes = std::size_t{16} << 20;

template <class T, class In>
void copy_values(T* out, const In* in, std::size_t count) {
  std::copy_n(in, count, out);
}
inline void copy_values(float* out, const std::uint8_t* in, std::size_t count) {
  widen(out, in, count);
}
inline void cut_off(std::uint8_t* out, const std::int32_t* in, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<std::uint8_t>(std::clamp(in[i], 0, 255));
  }
}

// Kernels without gaps between rows; `second` for Sobel, of the same shape, else empty.
template <class T>
struct TileKernel {
  int rows = 0;
  int columns = 0;
  std::vector<T> values = {};
  std::vector<T> second = {};
};

// Where a tile's results go.
template <class Out>
struct TileOutput {
  Out* data;  // of the tile's first value
  std::ptrdiff_t stride;
  bool stream;
};

// Columns [left, right) of rows [top, bottom).
struct TileRect {
  int top, bottom, left, right;
  [[nodiscard]] int rows() const { return bottom - top; }
  [[nodiscard]] int columns() const { return right - left; }
};

template <class In, class T, class Out>
class TileWorker {
 public:
  explicit TileWorker(const Plane<const In>& image)
      : image_(image), block_(direct_block_columns(sizeof(T))) {}

  // The correlation of a whole band of rows, tile by tile.
  void band(const Plane<Out>& out, const TileKernel<T>& kernel, int top, int bottom) {
    const bool stream = out.size() * sizeof(Out) > kStreamBytes;
    const std::vector<int> cuts = column_cuts(out, kernel);
    for (int y = top; y < bottom; y += kTileRows) {
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        const TileRect rect{y, std::min(y + kTileRows, bottom), cuts[i], cuts[i + 1]};
        tile(rect, kernel, TileOutput<Out>{out.row(y) + rect.left, out.stride, stream});
      }
    }
  }

  // The same for a column times a row, each a kernel: the column's sums of a tile, a little wider,
  // stay in the cache for the row.
  void separable_band(const Plane<Out>& out, const TileKernel<T>& column, const TileKernel<T>& row,
                      int top, int bottom) {
    const bool stream = out.size() * sizeof(Out) > kStreamBytes;
    for (int y = top; y < bottom; y += kTileRows) {
      for (int x = 0; x < image_.columns; x += kTileColumns) {
        const TileRect rect{y, std::min(y + kTileRows, bottom), x,
                            std::min(x + kTileColumns, image_.columns)};
        separable_tile(rect, column, row,
                       TileOutput<Out>{out.row(y) + rect.left, out.stride, stream});
      }
    }
  }

  void tile(const TileRect& rect, const TileKernel<T>& kernel, const TileOutput<Out>& out) {
    point_at_input(rect, kernel);
    compute(rect.rows(), rect.columns(), kernel, out);
  }

 private:
  static constexpr bool kSameType = std::is_same_v<In, T>;

  // Where the tiles of a row begin, and its end.
  std::vector<int> column_cuts(const Plane<Out>& out, const TileKernel<T>& kernel) const {
    std::vector<int> cuts = {0};
    if constexpr (kSameType) {
      const int border = std::max((kernel.columns / 2 + block_ - 1) / block_ * block_, block_);
      // The middle begins where vectors of the result are aligned, for stores around the caches.
      const auto place = reinterpret_cast<std::uintptr_t>(out.data + border);
      const int shift =
          static_cast<int>((kVectorBytes - place % kVectorBytes) % kVectorBytes / sizeof(Out));
      if (image_.columns >= 2 * border + shift + block_) {
        cuts.push_back(border + shift);
        cuts.push_back(image_.columns - border);
      }
    } else {
      for (int x = kTileColumns; x + block_ <= image_.columns; x += kTileColumns) cuts.push_back(x);
    }
    cuts.push_back(image_.columns);
    return cuts;
  }

  // Sets rows_ for a tile: into the image, or into a copy with its surroundings.
  void point_at_input(const TileRect& rect, const TileKernel<T>& kernel) {
    const int first = rect.top - kernel.rows / 2, left = rect.left - kernel.columns / 2;
    const int count = rect.rows() + kernel.rows - 1, right = rect.right + kernel.columns / 2;
    rows_.resize(count);
    const bool inside = left >= 0 && right <= image_.columns && rect.columns() >= block_;
    if constexpr (kSameType) {
      if (inside) {
        zeros_.resize(right - left);
        for (int i = 0; i < count; ++i) {
          const bool real = first + i >= 0 && first + i < image_.rows;
          rows_[i] = real ? image_.row(first + i) + left : zeros_.data();
        }
        return;
      }
    }
    const int width = std::max(rect.columns(), block_) + kernel.columns - 1;
    copy_.assign(static_cast<std::size_t>(count) * width, T{0});
    const int from = std::max(left, 0), to = std::min(right, image_.columns);
    for (int i = 0; i < count; ++i) {
      T* row = copy_.data() + static_cast<std::size_t>(i) * width;
      rows_[i] = row;
      if (first + i < 0 || first + i >= image_.rows || from >= to) continue;
      copy_values(row + (from - left), image_.row(first + i) + from, to - from);
    }
  }

  // From rows_ to the output; a tile narrower than a block goes through a buffer.
  template <class To>
  void compute(int rows, int columns, const TileKernel<T>& kernel, const TileOutput<To>& out) {
    DirectTile<T, To> job;
    job.in = rows_.data();
    job.out = out.data;
    job.out_stride = out.stride;
    job.rows = rows;
    job.columns = columns;
    job.kernel = kernel.values.data();
    job.second = kernel.second.empty() ? nullptr : kernel.second.data();
    job.kernel_rows = kernel.rows;
    job.kernel_columns = kernel.columns;
    job.stream = out.stream;
    if (columns >= block_) return direct(job);
    std::vector<To> narrow(static_cast<std::size_t>(rows) * block_);
    job.out = narrow.data();
    job.out_stride = job.columns = block_;
    direct(job);
    for (int y = 0; y < rows; ++y) {
      std::copy_n(narrow.data() + static_cast<std::size_t>(y) * block_, columns,
                  out.data + y * out.stride);
    }
  }

  void separable_tile(const TileRect& rect, const TileKernel<T>& column, const TileKernel<T>& row,
                      const TileOutput<Out>& out) {
    const int reach = row.columns / 2;
    const int width = std::max(rect.columns(), block_) + row.columns - 1;
    between_.assign(static_cast<std::size_t>(rect.rows()) * width, T{0});
    const TileRect wide{rect.top, rect.bottom, std::max(rect.left - reach, 0),
                        std::min(rect.right + reach, image_.columns)};
    point_at_input(wide, column);
    compute(rect.rows(), wide.columns(), column,
            TileOutput<T>{between_.data() + (wide.left - (rect.left - reach)), width, false});
    rows_.resize(rect.rows());
    for (int y = 0; y < rect.rows(); ++y) {
      rows_[y] = between_.data() + static_cast<std::size_t>(y) * width;
    }
    compute(rect.rows(), rect.columns(), row, out);
  }

  Plane<const In> image_;
  int block_;
  std::vector<const T*> rows_;
  std::vector<T> zeros_, copy_, between_;
};

}  // namespace stoker::detail
