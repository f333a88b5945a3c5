/// \file
/// Affine resampling: out(x, y) = in(map(x, y)), bilinear, black outside the input.
///
/// Shapes: any sizes, the same number of channels in both; the views do not overlap. Wide images
/// take the reference loop, with the same formula.
/// Arithmetic, the same in every version, all in whole numbers: the place in steps of 2^-16 pixel
/// (int64), its top 8 fraction bits as weights; a pixel is
///   ((p00 (256-fx) + p01 fx) (256-fy) + (p10 (256-fx) + p11 fx) fy + 2^15) >> 16.
/// The identity gives a copy. Steps are rounded to 2^-16 pixel, so a place is off by at most
/// max(width, height) * 2^-16 pixel at the far corner.
/// Cost: one pass over the output, and a copy of the input into the scratch memory. Maps
/// that reach further than 2^13 pixels, larger inputs and very narrow outputs take the reference
/// loop.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/export.h"
#include "stoker/image/image.h"
#include "stoker/kernels/warp/affine.h"

namespace stoker {

/// Memory of one thread, kept from image to image: the input with a black border, which is drawn
/// again only when the shape changes; for small images pairs of pixels instead (warp_input.h).
struct WarpScratch {
  ImageShape shape;
  std::vector<std::uint8_t> bordered;
  std::vector<std::uint16_t> pairs;
  std::vector<std::int32_t> places;  ///< of one row of a perspective: all x, then all y
};

/// Resamples `in` through `map`.
STOKER_API void warp_affine(const MutableImageView& out, const ImageView& in,
                            const FixedAffine& map, WarpScratch& scratch);

/// The slow obvious version, for comparison.
STOKER_API void warp_affine_reference(const MutableImageView& out, const ImageView& in,
                                      const FixedAffine& map);

}  // namespace stoker
