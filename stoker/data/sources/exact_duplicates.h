// Images that are the same file in every byte. Sizes are compared first, then a block from the
// middle, and only what still agrees is read as a whole.
#pragma once

#include <cstddef>
#include <vector>

#include "stoker/data/sources/image_folder.h"

namespace stoker {

// Sets of two or more places in listing.images with equal content; each set in the listing's order,
// sets by their first. Throws Error where a file cannot be read; one that a table names and that is
// not there is no duplicate.
[[nodiscard]] std::vector<std::vector<std::size_t>> find_exact_duplicates(
    const ImageListing& listing);

}  // namespace stoker
