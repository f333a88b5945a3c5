// A walked listing as bytes, for the cache: a magic number, the payload's length and digest, the
// payload. Anything else than whole bytes of this version is refused, and counts and lengths are
// held against what is left before memory is taken.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stoker/data/detail/folder_walk.h"

namespace stoker::detail {

inline constexpr std::size_t kListingHeaderBytes = 48;

[[nodiscard]] std::vector<std::byte> encode_listing(const WalkedListing& walked);
// Puts the header in front of a payload.
[[nodiscard]] std::vector<std::byte> frame_listing(std::span<const std::byte> payload);

// Nothing where the bytes are damaged or of another kind: a cache is then made anew. Labels name
// classes, and no path leaves the root.
[[nodiscard]] std::optional<WalkedListing> parse_listing(std::span<const std::byte> bytes);

}  // namespace stoker::detail
