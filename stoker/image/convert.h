// Pixels that were not decoded here, as decoding a file of them would give them.
#pragma once

#include "stoker/image/decode.h"
#include "stoker/image/image.h"

namespace stoker {

// `in` is of 8 bits and 1, 3 or 4 channels; `out` becomes what ImageDecoder gives for a file
// without loss that holds it: channels, background, depth and window count, the rest of the options
// is for files. Throws Error for another `in`.
void convert_pixels(Image& out, const ImageView& in, const DecodeOptions& options);

}  // namespace stoker
