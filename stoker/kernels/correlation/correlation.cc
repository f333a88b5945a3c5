#include "stoker/kernels/correlation/correlation.h"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/environment.h"
#include "stoker/core/error.h"
#include "stoker/kernels/correlation/detail/byte_products.h"
#include "stoker/kernels/correlation/detail/tiles.h"
#include "stoker/kernels/detail/row_bands.h"

namespace stoker {
namespace {

using detail::TileKernel;
using detail::TileWorker;

constexpr std::array<std::string_view, 4> kNames = {"auto", "reference", "direct", "separable"};

// Products that a core does in the time that makes a thread worth its start.
constexpr double kProductsPerThread = 1e6;

// Column and row of a kernel that is their product.
template <class T>
struct Factors {
  TileKernel<T> column, row;
};

template <class T>
TileKernel<T> dense(const Plane<const T>& kernel) {
  TileKernel<T> result{kernel.rows, kernel.columns};
  for (int i = 0; i < kernel.rows; ++i) {
    result.values.insert(result.values.end(), kernel.row(i), kernel.row(i) + kernel.columns);
  }
  return result;
}

// Whether k = a b as far as T can tell: the four roundings of computing both factors and the
// kernel's own entries.
template <class T>
bool is_product(T k, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return std::int64_t{k} == std::int64_t{a} * b;
  } else {
    return std::abs(k - a * b) <= 4 * std::numeric_limits<T>::epsilon() * std::abs(k);
  }
}

// Divides whole numbers by what they have in common; others stay as they are.
template <class T>
void reduce(std::vector<T>& values) {
  std::int64_t common = 0;
  for (const T value : values) {
    const auto whole = static_cast<double>(value);
    if (std::abs(whole) > 0x1p53 || std::trunc(whole) != whole) return;
    common = std::gcd(common, static_cast<std::int64_t>(whole));
  }
  for (T& value : values) value /= static_cast<T>(common);
}

// The row through the largest value, reduced, and the column that makes it that. Factors of a
// kernel of whole numbers are whole numbers.
template <class T>
std::optional<Factors<T>> factorise(const TileKernel<T>& kernel) {
  const auto smaller = [](T a, T b) {
    return std::abs(static_cast<double>(a)) < std::abs(static_cast<double>(b));
  };
  const auto peak = std::max_element(kernel.values.begin(), kernel.values.end(), smaller);
  if (*peak == T{0}) return std::nullopt;
  const auto place = static_cast<int>(peak - kernel.values.begin());
  const int j0 = place % kernel.columns;
  Factors<T> result{{kernel.rows, 1}, {1, kernel.columns}};
  const T* through = kernel.values.data() + (place - j0);
  result.row.values.assign(through, through + kernel.columns);
  reduce(result.row.values);
  const T divisor = result.row.values[j0];
  for (int i = 0; i < kernel.rows; ++i) {
    result.column.values.push_back(kernel.values[i * kernel.columns + j0] / divisor);
  }
  for (int i = 0; i < kernel.rows; ++i) {
    for (int j = 0; j < kernel.columns; ++j) {
      if (!is_product(kernel.values[i * kernel.columns + j], result.column.values[i],
                      result.row.values[j])) {
        return std::nullopt;
      }
    }
  }
  return result;
}

template <class Out, class In>
void check(const Plane<Out>& out, const Plane<const In>& image, int kernel_rows,
           int kernel_columns) {
  if (out.rows != image.rows || out.columns != image.columns) {
    throw Error({.what = "cannot correlate",
                 .expected = fmt::format("a result of the image's size, {} x {}", image.rows,
                                         image.columns),
                 .found = fmt::format("{} x {}", out.rows, out.columns)});
  }
  if (kernel_rows < 1 || kernel_columns < 1 || kernel_rows % 2 == 0 || kernel_columns % 2 == 0) {
    throw Error({.what = "cannot correlate",
                 .expected = "a kernel with an odd number of rows and of columns",
                 .found = fmt::format("{} x {}", kernel_rows, kernel_columns),
                 .hint = "add a row or column of zeros"});
  }
}

CorrelationMethod method_from_environment() {
  const auto name = environment_variable("STOKER_CORRELATION");
  if (!name || name->empty()) return CorrelationMethod::kAuto;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (*name == kNames[i]) return static_cast<CorrelationMethod>(i);
  }
  throw Error({.what = "cannot use the method in STOKER_CORRELATION",
               .expected = fmt::format("one of {}", fmt::join(kNames, ", ")),
               .found = fmt::format("\"{}\"", *name)});
}

[[noreturn]] void refuse(CorrelationMethod method, std::string_view expected) {
  throw Error({.what = fmt::format("cannot correlate by the method {}", method_name(method)),
               .expected = std::string(expected),
               .hint = "leave the choice to the program (method auto)"});
}

// Two passes save products but write and read the sums between them.
template <class T>
bool separable_pays(const TileKernel<T>& kernel) {
  return kernel.values.size() >= 25 && kernel.rows > 1 && kernel.columns > 1;
}

// Runs work(worker, top, bottom) in bands of rows.
template <class In, class T, class Out, class Work>
void in_bands(const Plane<const In>& image, std::size_t products_a_pixel, int wanted_threads,
              Work work) {
  const auto products = static_cast<double>(image.size() * products_a_pixel);
  const int threads = detail::worthwhile_threads(wanted_threads, products, kProductsPerThread);
  detail::for_row_bands(image.rows, detail::kTileRows, threads, [&](int top, int bottom) {
    TileWorker<In, T, Out> worker(image);
    work(worker, top, bottom);
  });
}

template <class In, class T, class Out>
void run_direct(const Plane<Out>& out, const Plane<const In>& image, const TileKernel<T>& kernel,
                int threads) {
  in_bands<In, T, Out>(image, kernel.values.size(), threads,
                       [&](TileWorker<In, T, Out>& worker, int top, int bottom) {
                         worker.band(out, kernel, top, bottom);
                       });
}

template <class In, class T, class Out>
void run_separable(const Plane<Out>& out, const Plane<const In>& image, const Factors<T>& factors,
                   int threads) {
  in_bands<In, T, Out>(image, factors.row.values.size() + factors.column.values.size(), threads,
                       [&](TileWorker<In, T, Out>& worker, int top, int bottom) {
                         worker.separable_band(out, factors.column, factors.row, top, bottom);
                       });
}

// Bytes are cut off from the whole numbers of a few rows at a time.
template <class T>
void run_direct(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& image,
                const TileKernel<T>& kernel, int threads) {
  using Worker = TileWorker<std::uint8_t, T, std::int32_t>;
  in_bands<std::uint8_t, T, std::int32_t>(
      image, kernel.values.size(), threads, [&](Worker& worker, int top, int bottom) {
        std::vector<std::int32_t> sums(static_cast<std::size_t>(detail::kTileRows) * image.columns);
        for (int y = top; y < bottom; y += detail::kTileRows) {
          const int end = std::min(y + detail::kTileRows, bottom);
          worker.tile({y, end, 0, image.columns}, kernel, {sums.data(), image.columns, false});
          for (int i = y; i < end; ++i) {
            detail::cut_off(out.row(i), sums.data() + std::ptrdiff_t{i - y} * image.columns,
                            image.columns);
          }
        }
      });
}

template <class T>
void run_separable(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& image,
                   const Factors<T>& factors, int threads) {
  std::vector<std::int32_t> sums(image.size());
  run_separable(Plane<std::int32_t>(sums.data(), image.rows, image.columns), image, factors,
                threads);
  for (int y = 0; y < out.rows; ++y) {
    detail::cut_off(out.row(y), sums.data() + std::ptrdiff_t{y} * image.columns, image.columns);
  }
}

// T is the type of products and sums.
template <class T, class In, class Out>
CorrelationMethod run_in(const Plane<Out>& out, const Plane<const In>& image,
                         const TileKernel<T>& kernel, CorrelationMethod method, int threads) {
  const bool may_split = method == CorrelationMethod::kSeparable ||
                         (method == CorrelationMethod::kAuto && separable_pays(kernel));
  if (may_split) {
    if (const auto factors = factorise(kernel)) {
      run_separable(out, image, *factors, threads);
      return CorrelationMethod::kSeparable;
    }
    if (method == CorrelationMethod::kSeparable)
      refuse(method, "a kernel that is a column times a row");
  }
  run_direct(out, image, kernel, threads);
  return CorrelationMethod::kDirect;
}

// Whether all sums of bytes times these weights are whole numbers that f32 has exactly.
bool exact_in_f32(const std::vector<std::int32_t>& weights) {
  double most = 0;
  for (const std::int32_t weight : weights) most += 255 * std::abs(static_cast<double>(weight));
  return most < (1 << 24);
}

bool are_signed_bytes(const std::vector<std::int32_t>& weights) {
  return std::all_of(weights.begin(), weights.end(),
                     [](std::int32_t weight) { return weight >= -128 && weight <= 127; });
}

template <class Out>
void run_byte_products(const Plane<Out>& out, const Plane<const std::uint8_t>& image,
                       const TileKernel<std::int32_t>& kernel, int wanted_threads) {
  const detail::ByteKernel weights =
      detail::byte_kernel(kernel.rows, kernel.columns, kernel.values);
  const auto products = static_cast<double>(image.size() * kernel.values.size()) / 3;
  const int threads = detail::worthwhile_threads(wanted_threads, products, kProductsPerThread);
  detail::for_row_bands(image.rows, detail::kTileRows, threads, [&](int top, int bottom) {
    detail::byte_products_band(out, image, weights, top, bottom);
  });
}

// Products of bytes where the weights are bytes and the CPU has them, else f32 where it is exact,
// else 32-bit products. Separable kernels are split from kLeastSplit products of bytes on: below,
// one pass of them is faster than two of f32.
template <class Out>
CorrelationMethod run_bytes(const Plane<Out>& out, const Plane<const std::uint8_t>& image,
                            const TileKernel<std::int32_t>& kernel, CorrelationMethod method,
                            int threads) {
  constexpr std::size_t kLeastSplit = 15 * 15;
  const bool split = method == CorrelationMethod::kSeparable ||
                     (method == CorrelationMethod::kAuto && kernel.values.size() >= kLeastSplit &&
                      factorise(kernel).has_value());
  if (!split && detail::byte_products_available() && are_signed_bytes(kernel.values)) {
    run_byte_products(out, image, kernel, threads);
    return CorrelationMethod::kDirect;
  }
  if (exact_in_f32(kernel.values)) {
    const TileKernel<float> same{
        kernel.rows, kernel.columns, {kernel.values.begin(), kernel.values.end()}};
    return run_in(out, image, same, method, threads);
  }
  return run_in(out, image, kernel, method, threads);
}

template <class Out, class In, class Weight>
CorrelationMethod correlate_any(const Plane<Out>& out, const Plane<const In>& image,
                                const Plane<const Weight>& kernel,
                                const CorrelationOptions& options) {
  check(out, image, kernel.rows, kernel.columns);
  CorrelationMethod method = options.method;
  if (method == CorrelationMethod::kAuto) method = method_from_environment();
  if (method == CorrelationMethod::kReference || !detail::direct_available()) {
    correlate_reference(out, image, kernel);
    return CorrelationMethod::kReference;
  }
  if (image.empty()) return CorrelationMethod::kDirect;
  if constexpr (std::is_same_v<Weight, std::int32_t> && std::is_same_v<In, std::uint8_t>) {
    return run_bytes(out, image, dense(kernel), method, options.threads);
  } else {
    return run_in(out, image, dense(kernel), method, options.threads);
  }
}

}  // namespace

std::string_view method_name(CorrelationMethod method) {
  return kNames.at(static_cast<std::size_t>(method));
}

CorrelationMethod correlate(const Plane<float>& out, const Plane<const float>& image,
                            const Plane<const float>& kernel, const CorrelationOptions& options) {
  return correlate_any(out, image, kernel, options);
}

CorrelationMethod correlate(const Plane<double>& out, const Plane<const double>& image,
                            const Plane<const double>& kernel, const CorrelationOptions& options) {
  return correlate_any(out, image, kernel, options);
}

CorrelationMethod correlate(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& image,
                            const Plane<const std::int32_t>& kernel,
                            const CorrelationOptions& options) {
  return correlate_any(out, image, kernel, options);
}

CorrelationMethod correlate(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                            const Plane<const float>& kernel, const CorrelationOptions& options) {
  return correlate_any(out, image, kernel, options);
}

CorrelationMethod correlate(const Plane<std::int32_t>& out, const Plane<const std::uint8_t>& image,
                            const Plane<const std::int32_t>& kernel,
                            const CorrelationOptions& options) {
  return correlate_any(out, image, kernel, options);
}

CorrelationMethod correlate(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& image,
                            const Plane<const std::int32_t>& kernel,
                            const CorrelationOptions& options) {
  return correlate_any(out, image, kernel, options);
}

}  // namespace stoker
