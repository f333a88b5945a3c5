#include "stoker/data/sources/file_sizes.h"

#include <sys/stat.h>

#include "stoker/data/detail/each_in_parallel.h"

namespace stoker {

std::vector<std::uint64_t> file_sizes(const ImageListing& listing, int threads) {
  std::vector<std::uint64_t> sizes(listing.images.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = listing.images[i].bytes;
  if (listing.table.empty()) return sizes;
  detail::each_in_parallel(sizes.size(), threads, [&](std::size_t i) {
    struct stat status {};
    const std::string path = (listing.root / listing.images[i].path).string();
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    sizes[i] = static_cast<std::uint64_t>(status.st_size);
  });
  return sizes;
}

}  // namespace stoker
