// How large the files of a listing are. A walk and a list know it; a table does not look at files
// when it is read, so they are asked for here.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/data/sources/image_folder.h"

namespace stoker {

// Of each image, in the listing's order; 0 where the file is missing. Looks at files only where a
// table names them: some microseconds a file and thread.
[[nodiscard]] std::vector<std::uint64_t> file_sizes(const ImageListing& listing, int threads = 4);

}  // namespace stoker
