#include "stoker/kernels/gram/gram.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/environment.h"
#include "stoker/core/error.h"
#include "stoker/kernels/detail/row_bands.h"
#include "stoker/kernels/gram/detail/gram_block.h"

namespace stoker {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"auto", "reference", "blocked", "blas"};

// Products that a core does in the time that makes a thread worth its start.
constexpr double kProductsPerThread = 2e6;
constexpr double kCopiesPerThread = 1e5;
// A panel of this depth stays in the first cache while all rows pass by it.
constexpr int kDepth = 192;
constexpr std::size_t kAlignment = 64;

GramBlas& blas_in_place() {
  static GramBlas blas;
  return blas;
}

GramMethod method_from_environment() {
  const auto name = environment_variable("STOKER_GRAM");
  if (!name || name->empty()) return GramMethod::kAuto;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (*name == kNames[i]) return static_cast<GramMethod>(i);
  }
  throw Error({.what = "cannot use the method in STOKER_GRAM",
               .expected = fmt::format("one of {}", fmt::join(kNames, ", ")),
               .found = fmt::format("\"{}\"", *name)});
}

// All panels of X, each over the whole depth.
template <class T>
class Panels {
 public:
  Panels(const Plane<const T>& x, int width, int threads)
      : x_(x),
        width_(width),
        values_(static_cast<T*>(::operator new (bytes(), std::align_val_t{kAlignment}))) {
    detail::for_row_bands(count(), 1, threads, [&](int begin, int end) {
      for (int panel = begin; panel < end; ++panel) fill(panel);
    });
  }

  [[nodiscard]] int count() const { return (x_.rows + width_ - 1) / width_; }
  [[nodiscard]] const T* at(int panel, int k) const {
    return values_.get() + (static_cast<std::size_t>(panel) * x_.columns + k) * width_;
  }

 private:
  struct Free {
    void operator()(T* values) const { ::operator delete (values, std::align_val_t{kAlignment}); }
  };
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(count()) * width_ * x_.columns * sizeof(T);
  }

  // A few columns at a time, so that what is written stays in the cache until it is whole.
  void fill(int panel) {
    constexpr int kColumns = 64;
    const int first = panel * width_, rows = std::min(width_, x_.rows - first);
    T* out = values_.get() + static_cast<std::size_t>(panel) * x_.columns * width_;
    for (int k = 0; k < x_.columns; k += kColumns) {
      const int columns = std::min(kColumns, x_.columns - k);
      T* piece = out + static_cast<std::size_t>(k) * width_;
      if (rows < width_) std::fill_n(piece, static_cast<std::size_t>(columns) * width_, T{0});
      detail::transpose({piece, width_, x_.row(first) + k, x_.stride, rows, columns});
    }
  }

  Plane<const T> x_;
  int width_;
  std::unique_ptr<T, Free> values_;
};

// Columns [panel * shape.panel, …) of out, from the diagonal down.
template <class T>
void panel_columns(const Plane<T>& out, const Panels<T>& panels, int panel, int depth,
                   const detail::GramShape& shape) {
  const int left = panel * shape.panel, columns = std::min(shape.panel, out.columns - left);
  std::vector<T> edge(static_cast<std::size_t>(shape.rows) * shape.panel);
  for (int k = 0; k < depth; k += kDepth) {
    for (int top = left; top < out.rows; top += shape.rows) {
      const int rows = std::min(shape.rows, out.rows - top);
      const bool whole = rows == shape.rows && columns == shape.panel;
      detail::GramBlock<T> block;
      block.left = panels.at(top / shape.panel, k) + top % shape.panel;
      block.left_step = shape.panel;
      block.panel = panels.at(panel, k);
      block.depth = std::min(kDepth, depth - k);
      block.sums = whole ? out.row(top) + left : edge.data();
      block.stride = whole ? out.stride : shape.panel;
      block.add = whole && k > 0;
      detail::gram_block(block);
      if (whole) continue;
      for (int i = 0; i < rows; ++i) {
        const T* from = edge.data() + static_cast<std::size_t>(i) * shape.panel;
        T* to = out.row(top + i) + left;
        for (int j = 0; j < columns; ++j) to[j] = k > 0 ? to[j] + from[j] : from[j];
      }
    }
  }
}

// Copies the lower half into the upper one, in blocks that stay in the cache.
template <class T>
void mirror_lower(const Plane<T>& out, int threads) {
  constexpr int kSide = 32;
  const int blocks = (out.rows + kSide - 1) / kSide;
  detail::for_row_bands(blocks, 1, threads, [&](int begin, int end) {
    for (int block = begin; block < end; ++block) {
      const int top = block * kSide, rows = std::min(kSide, out.rows - top);
      for (int i = top; i < top + rows; ++i) {
        for (int j = i + 1; j < top + rows; ++j) out.at(i, j) = out.at(j, i);
      }
      for (int left = top + kSide; left < out.rows; left += kSide) {
        const int columns = std::min(kSide, out.rows - left);
        detail::transpose(
            {out.row(top) + left, out.stride, out.row(left) + top, out.stride, columns, rows});
      }
    }
  });
}

template <class T>
void gram_blocked(const Plane<T>& out, const Plane<const T>& x, int threads) {
  if (x.columns <= 0) {
    for (int i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.columns, T{0});
    return;
  }
  const detail::GramShape shape = detail::gram_shape(sizeof(T));
  const Panels<T> panels(x, shape.panel, threads);
  // The first panels have the longest columns, so whoever is free takes the next.
  std::atomic<int> next = 0;
  detail::for_row_bands(threads, 1, threads, [&](int, int) {
    for (int panel = next++; panel < panels.count(); panel = next++) {
      panel_columns(out, panels, panel, x.columns, shape);
    }
  });
  mirror_lower(out, threads);
}

template <class T>
GramMethod choose(GramMethod wanted, bool has_blas) {
  if (wanted == GramMethod::kAuto) wanted = method_from_environment();
  if (wanted == GramMethod::kBlas && !has_blas) {
    throw Error({.what = "cannot compute X·Xᵀ by the method blas",
                 .expected = "a BLAS put in place with use_gram_blas()",
                 .hint = "leave the choice to the program (method auto)"});
  }
  if (wanted != GramMethod::kAuto && wanted != GramMethod::kBlocked) return wanted;
  if (detail::gram_shape(sizeof(T)).rows == 0) return GramMethod::kReference;
  if (wanted == GramMethod::kBlocked) return wanted;
  return has_blas ? GramMethod::kBlas : GramMethod::kBlocked;
}

template <class T>
GramMethod gram_any(const Plane<T>& out, const Plane<const T>& x, const GramOptions& options,
                    void (*blas)(const Plane<T>&, const Plane<const T>&, int)) {
  if (out.rows != x.rows || out.columns != x.rows) {
    throw Error({.what = "cannot compute X·Xᵀ",
                 .expected = fmt::format("a result of {0} x {0}", x.rows),
                 .found = fmt::format("{} x {}", out.rows, out.columns)});
  }
  const GramMethod method = choose<T>(options.method, blas != nullptr);
  if (x.rows <= 0) return method;
  const double results = 0.5 * x.rows * x.rows;
  const int threads =
      detail::worthwhile_threads(options.threads, results * x.columns, kProductsPerThread);
  if (method == GramMethod::kReference) {
    gram_reference(out, x);
  } else if (method == GramMethod::kBlas) {
    blas(out, x, threads);
    mirror_lower(out, detail::worthwhile_threads(options.threads, results, kCopiesPerThread));
  } else {
    gram_blocked(out, x, threads);
  }
  return method;
}

}  // namespace

std::string_view method_name(GramMethod method) {
  return kNames.at(static_cast<std::size_t>(method));
}

GramMethod gram(const Plane<float>& out, const Plane<const float>& x, const GramOptions& options) {
  return gram_any(out, x, options, blas_in_place().f32);
}

GramMethod gram(const Plane<double>& out, const Plane<const double>& x,
                const GramOptions& options) {
  return gram_any(out, x, options, blas_in_place().f64);
}

void use_gram_blas(const GramBlas& blas) { blas_in_place() = blas; }

}  // namespace stoker
