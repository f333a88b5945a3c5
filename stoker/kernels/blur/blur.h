/// \file
/// Gaussian blur: a symmetric kernel down the columns, then along the rows; pixels beyond the
/// border are the image mirrored at its outermost pixel (as torch's "reflect").
///
/// Arithmetic, the same in every version, in 16-bit whole numbers: values in steps of 1/64, weights
/// in steps of 2^-15 that add up to 1, m(a, w) = (a w + 2^14) >> 15,
///   column: t = m(64 p0, w0) + sum of m(64 (p-i + pi), wi)
///   row:    (m(t0, w0) + sum of m(t-i + ti, wi) + 32) >> 6.
/// Each m rounds to the nearest 1/64, so the result is at most one level from the exact one, and a
/// image of one colour stays as it is.
/// Cost: (radius + 1) multiplications for each value in each direction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stoker/export.h"
#include "stoker/image/image.h"

namespace stoker {

/// Of larger radii the rounding errors could add up to a level.
inline constexpr int kMaxBlurRadius = 25;

/// One half of a symmetric kernel, in steps of 2^-15.
struct BlurWeights {
  int radius = 0;
  std::array<std::int16_t, kMaxBlurRadius + 1> weights = {32767};  ///< from the middle outwards
};

/// exp(-x² / (2 sigma²)) for whole x up to (size - 1) / 2, divided by their sum; outermost ones
/// that round to 0 are omitted. Throws Error unless size is odd and at most 2 kMaxBlurRadius + 1,
/// and sigma is above 0.
[[nodiscard]] STOKER_API BlurWeights gaussian_weights(int size, double sigma);

/// Memory of one thread, kept from image to image: one row after the first step, with its borders.
struct BlurScratch {
  std::vector<std::int16_t> row;
};

/// The views have the same shape and do not overlap.
STOKER_API void blur(const MutableImageView& out, const ImageView& in, const BlurWeights& weights,
                     BlurScratch& scratch);
/// The slow obvious version, for comparison.
STOKER_API void blur_reference(const MutableImageView& out, const ImageView& in,
                               const BlurWeights& weights);

namespace detail {
/// Mirrors a place into [0, size), as often as needed.
[[nodiscard]] int reflected(int place, int size) noexcept;
}  // namespace detail

}  // namespace stoker
