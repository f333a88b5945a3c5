// Correlation of an image with a kernel: zeros beyond the border, result of the image's size,
//   out[y][x] = sum over i, j of kernel[i][j] * image[y + i - rows / 2][x + j - columns / 2],
// that is scipy's convolve2d(image, kernel rotated by 180°, mode="same"). Both sides of the kernel
// are odd; it may be larger than the image and need not be square. Images may be empty.
//
// Exactness. i32: modulo 2^32, the same bits from every method, instruction set and number of
// threads. f32 and f64: the number of threads changes nothing; methods and instruction sets sum in
// different orders or with fused multiply-adds, so results differ by rounding: at most a few times
// epsilon * sum of |kernel| * |image| under the kernel. Whole numbers are exact as long as
// no partial sum exceeds 2^24 (f32) or 2^53 (f64). All values are finite.
//
// Functions without state, safe from any thread. `out` overlaps neither image nor kernel.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/kernels/plane.h"

namespace stoker {

enum class CorrelationMethod : std::uint8_t {
  kAuto,
  kReference,  // the plain loops below
  kDirect,     // all products, blocked in registers
  kSeparable,  // the kernel is a column times a row: one pass for each
};
[[nodiscard]] std::string_view method_name(CorrelationMethod method);

struct CorrelationOptions {
  int threads = 0;  // 0: as many as the process may use (core/cpu_budget.h)
  // kAuto takes the method that measured fastest for this shape. Another one is an Error where it
  // cannot do this kernel. The variable STOKER_CORRELATION (a method's name) replaces kAuto.
  CorrelationMethod method = CorrelationMethod::kAuto;
};

// Return the method that ran. Throw Error unless out has the image's shape and the kernel odd
// sides.
CorrelationMethod correlate(const Plane<float>& out, const Plane<const float>& image,
                            const Plane<const float>& kernel,
                            const CorrelationOptions& options = {});
CorrelationMethod correlate(const Plane<double>& out, const Plane<const double>& image,
                            const Plane<const double>& kernel,
                            const CorrelationOptions& options = {});
CorrelationMethod correlate(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& image,
                            const Plane<const std::int32_t>& kernel,
                            const CorrelationOptions& options = {});
CorrelationMethod correlate(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                            const Plane<const float>& kernel,
                            const CorrelationOptions& options = {});
CorrelationMethod correlate(const Plane<std::int32_t>& out, const Plane<const std::uint8_t>& image,
                            const Plane<const std::int32_t>& kernel,
                            const CorrelationOptions& options = {});

// As above, then cut off to 0 … 255: filtered bytes as an image.
CorrelationMethod correlate(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& image,
                            const Plane<const std::int32_t>& kernel,
                            const CorrelationOptions& options = {});

// The obvious loops, one thread; taps in the order of the kernel's rows, each product and each sum
// rounded to the type of `out`.
void correlate_reference(const Plane<float>& out, const Plane<const float>& image,
                         const Plane<const float>& kernel);
void correlate_reference(const Plane<double>& out, const Plane<const double>& image,
                         const Plane<const double>& kernel);
void correlate_reference(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& image,
                         const Plane<const std::int32_t>& kernel);
void correlate_reference(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                         const Plane<const float>& kernel);
void correlate_reference(const Plane<std::int32_t>& out, const Plane<const std::uint8_t>& image,
                         const Plane<const std::int32_t>& kernel);
void correlate_reference(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& image,
                         const Plane<const std::int32_t>& kernel);

}  // namespace stoker
