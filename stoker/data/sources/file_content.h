// What a file that is no readable image really is, told from its bytes. Functions without state.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "stoker/image/decode.h"

namespace stoker::detail {

// Whether the end of the file is missing: no end marker of a JPEG, no last chunk of a PNG, fewer
// bytes than a WebP file names. False for other formats, whose decoders say so.
[[nodiscard]] bool is_cut_short(std::span<const std::byte> bytes, ImageFormat format);

// "a TIFF image", "a GIF image" …, by the first 32 bytes; "" where they are of no image.
[[nodiscard]] std::string_view image_signature(std::span<const std::byte> bytes);

// "a GIF image", "an HTML page", "zero bytes only", …; empty where nothing is recognised.
[[nodiscard]] std::string describe_content(std::span<const std::byte> bytes);

}  // namespace stoker::detail
