#include "stoker/data/detail/open_images.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "stoker/data/detail/missing_part.h"
#include "stoker/data/sources/image_list.h"
#include "stoker/data/sources/listing_cache.h"

namespace stoker::detail {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

ImageListing one_image(const fs::path& path) {
  return {.root = path.parent_path(),
          .class_names = {},
          .images = {{.path = path.filename().string(), .label = kNoClass}},
          .ignored = {}};
}

fs::path list_of(const fs::path& root, Split split) {
  return root / fmt::format("{}.txt", name_of(split));
}

// A lone train.txt may be anything.
bool holds_lists(const fs::path& root) {
  return is_file(list_of(root, Split::kTrain)) &&
         (is_file(list_of(root, Split::kValidation)) || is_file(list_of(root, Split::kTest)));
}

fs::path folder_of(const fs::path& root, Split split) {
  const DatasetFolders parts = find_parts(root);
  if (split == Split::kTrain) return parts.train;
  return split == Split::kValidation ? parts.validation : parts.test;
}

}  // namespace

DataParts image_parts(const fs::path& path) {
  if (is_file(path)) return {};
  if (holds_lists(path)) {
    return {.validation = is_file(list_of(path, Split::kValidation)),
            .test = is_file(list_of(path, Split::kTest))};
  }
  const DatasetFolders parts = find_parts(path);
  return {.validation = !parts.validation.empty(), .test = !parts.test.empty()};
}

std::shared_ptr<const Source> open_images(const fs::path& path, Split split,
                                          const FolderOptions& options,
                                          const fs::path& cache_folder) {
  const DataParts parts = image_parts(path);
  if (!parts.has(split)) fail_missing_part(path.string(), split, parts);
  ImageListing listing;
  if (is_file(path)) {
    listing =
        has_image_extension(path.filename().string()) ? one_image(path) : read_image_list(path);
  } else if (holds_lists(path)) {
    listing = read_image_list(list_of(path, split));
  } else {
    listing = list_images_cached(folder_of(path, split), cache_folder);
  }
  return std::make_shared<FolderSource>(std::move(listing), options);
}

}  // namespace stoker::detail
