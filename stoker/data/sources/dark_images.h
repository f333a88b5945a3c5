// Images that become nearly black when they are read: 12-bit values in 16-bit PNGs, of which the
// high byte is used. Functions without state.
#pragma once

#include <string>

#include "stoker/data/sources/source.h"
#include "stoker/image/decode.h"

namespace stoker {

// The brightest value of an image of 14 bits in 16, and less.
inline constexpr int kDarkLimit = 63;

[[nodiscard]] int brightest_value(const ImageView& pixels);

// A warning where the images of a folder or list are such: at least half of up to 16 that are
// spread over the data. "" where they are not, and for other sources. Decodes in this process; a
// few milliseconds for photographs, and only files of 16 bits a value are decoded.
[[nodiscard]] std::string warn_of_dark_images(const Source& source,
                                              const DecodeLimits& limits = {});

}  // namespace stoker
