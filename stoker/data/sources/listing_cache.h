// Listings that are kept: the second look at a large folder costs one look at each of its folders,
// not at each of its files.
//
// A kept listing is used while every folder in it has the same inode, modification and change time.
// So it notices files and folders that are added, removed, renamed or replaced. It cannot notice an
// image whose bytes are changed in place: `bytes` and `modified_ns` are then old, and whoever reads
// the file sees the difference. A listing with symbolic links to files is not kept, because no
// folder in it changes with what they lead to.
// A cache that is damaged, of another version or of another folder is made anew; one that cannot be
// written is done without. Any number of processes at once.
#pragma once

#include <chrono>
#include <filesystem>

#include "stoker/core/environment.h"
#include "stoker/data/sources/image_folder.h"

namespace stoker {

// <the user's cache folder>/stoker/listings; empty where the user has none.
[[nodiscard]] std::filesystem::path listing_cache_folder(
    const Environment& environment = environment_variable);

// As list_images, and throws the same. Files in `cache_folder` are named after the digest of the
// absolute path; an empty `cache_folder` means no cache. A folder that changed less than two
// seconds before `now` is not kept, because the next change might get the same time.
[[nodiscard]] ImageListing list_images_cached(
    const std::filesystem::path& root,
    const std::filesystem::path& cache_folder = listing_cache_folder(),
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

}  // namespace stoker
