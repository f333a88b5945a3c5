// The chunks of a PNG file, looked at without decoding: what the header says, whether the file is
// whole, where EXIF lies. No state, no memory; O(chunks).
#pragma once

#include <cstddef>
#include <span>

#include "stoker/core/result.h"
#include "stoker/image/detail/codec.h"

namespace stoker::detail {

// Refuses a file without a valid first chunk, and one that ends before its last chunk does.
[[nodiscard]] Result<StoredHeader> read_png_header(std::span<const std::byte> bytes);

}  // namespace stoker::detail
