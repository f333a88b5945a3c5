// A JPEG that can be decoded in parts: the same pixels in other bytes. Coefficients are copied, not
// computed, into one scan with restart markers. A large image also gets a small JPEG behind its
// end, with only the coefficients that decoding at 1/8 reads. Every reader of JPEG reads it;
// ImageDecoder decodes only the intervals that a region needs. Metadata before the end of the image
// stay; what a camera wrote behind it is dropped.
//
// Costs decoding the image several times, and memory for its coefficients and two copies of its
// pixels. Without state, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stoker/image/decode.h"

namespace stoker {

// Nothing where the bytes are no JPEG, it is damaged or of a kind that has no such form, or the
// pixels, which are compared, would not be the same.
[[nodiscard]] std::optional<std::vector<std::byte>> indexed_jpeg(std::span<const std::byte> jpeg,
                                                                 const DecodeLimits& limits = {});

}  // namespace stoker
