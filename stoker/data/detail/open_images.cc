#include "stoker/data/detail/open_images.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/detail/letters.h"
#include "stoker/data/detail/missing_part.h"
#include "stoker/data/sources/image_list.h"
#include "stoker/data/sources/image_table.h"
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

// No reader of a reasonable size is a package of Debian.
void refuse_parquet(const fs::path& path) {
  if (lower_case(path.extension().string()) != ".parquet") return;
  const std::string table = fs::path(path).replace_extension(".csv").string();
  throw Error({.what = "Parquet tables are not read",
               .path = path.string(),
               .expected = "a table as .csv or .tsv",
               .hint = fmt::format("Convert it: python -c \"import pandas; "
                                   "pandas.read_parquet('{}').to_csv('{}', index=False)\"",
                                   path.string(), table)});
}

}  // namespace

DataParts image_parts(const fs::path& path, const TableColumns& columns) {
  if (is_file(path)) {
    refuse_parquet(path);
    return is_image_table(path) ? table_parts(path, columns) : DataParts{};
  }
  if (holds_lists(path)) {
    return {.validation = is_file(list_of(path, Split::kValidation)),
            .test = is_file(list_of(path, Split::kTest))};
  }
  const DatasetFolders parts = find_parts(path);
  return {.validation = !parts.validation.empty(), .test = !parts.test.empty()};
}

std::shared_ptr<const Source> open_images(const fs::path& path, Split split,
                                          const DataOptions& options,
                                          const fs::path& cache_folder) {
  if (is_image_table(path)) {
    const TableRequest request{.columns = options.table,
                               .needs_labels = options.needs_labels,
                               .known_classes = options.known_classes};
    return std::make_shared<FolderSource>(read_image_table(path, split, request), options.images);
  }
  const DataParts parts = image_parts(path, options.table);
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
  return std::make_shared<FolderSource>(std::move(listing), options.images);
}

}  // namespace stoker::detail
