// Where a pixel of a perspective lies in the input; one function for both versions, so that they
// cannot differ.
#pragma once

#include "stoker/kernels/warp/perspective.h"

namespace stoker::detail {

template <class Integer>
struct FixedPlace {
  Integer x, y;  // in steps of 2^-16 pixel, with half a step of the weights, as FixedAffine
};

// A fraction in pixels from the upper left corner becomes the place of a pixel's centre. Beyond
// four pixels outside the image all is black, so nothing lies further; behind the horizon neither.
template <class Integer>
inline Integer fixed_place(double numerator, double denominator, int size) {
  constexpr int kFurthest = 4;
  const double place = denominator > 1e-9 ? numerator / denominator - 0.5 : -kFurthest;
  const double most = size + kFurthest;
  const double low = place > -kFurthest ? place : -kFurthest;
  const double near = low < most ? low : most;
  // Positive before it is cut, so that cutting rounds down.
  constexpr int kOne = 1 << kFractionBits, kHalfWeight = 1 << (kFractionBits - kWeightBits - 1);
  return static_cast<Integer>((near + kFurthest) * kOne + 0.5) - kFurthest * kOne + kHalfWeight;
}

template <class Integer>
inline FixedPlace<Integer> place_of(const Perspective& map, int column, int row,
                                    const ImageShape& in) {
  const double x = column + 0.5, y = row + 0.5;
  const double denominator = map.g * x + map.h * y + map.i;
  return {.x = fixed_place<Integer>(map.a * x + map.b * y + map.c, denominator, in.width),
          .y = fixed_place<Integer>(map.d * x + map.e * y + map.f, denominator, in.height)};
}

}  // namespace stoker::detail
