// EXIF's eight orientations: where a region of the upright image lies in the stored one, and
// turning stored pixels upright. Functions without state; turning reads and writes each pixel once.
#pragma once

#include "stoker/image/decode.h"
#include "stoker/image/image.h"

namespace stoker::detail {

// Rows of the upright image are columns of the stored one.
[[nodiscard]] constexpr bool swaps_sides(int orientation) { return orientation >= 5; }

// An upright region in the stored image, whose sides are given.
[[nodiscard]] Region to_stored(const Region& upright, int orientation, int stored_width,
                               int stored_height);

// A box inside stored pixels of the given sides, after these are turned upright.
[[nodiscard]] RegionF to_upright(const RegionF& stored, int orientation, int stored_width,
                                 int stored_height);

// Writes `in` upright. `out` has its shape, sides swapped where the orientation does that, and
// shares no memory with it.
void turn_upright(const MutableImageView& out, const ImageView& in, int orientation);

}  // namespace stoker::detail
