#include "stoker/data/detail/open_pictures.h"

#include <system_error>
#include <utility>

#include "stoker/core/error.h"
#include "stoker/data/image_list.h"
#include "stoker/data/listing_cache.h"
#include "stoker/data/split.h"

namespace stoker::detail {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

[[noreturn]] void fail_without_validation(const fs::path& path, std::string found) {
  throw Error({.what = "the data has no part to validate on",
               .path = path.string(),
               .expected = "a folder val, valid, validation or test with a folder for each class",
               .found = std::move(found),
               .hint = "Make one with `stoker split`, or name other data with --val-data."});
}

ImageListing one_picture(const fs::path& path) {
  return {.root = path.parent_path(),
          .class_names = {},
          .images = {{.path = path.filename().string(), .label = kNoClass}},
          .ignored = {}};
}

ImageListing list_file(const fs::path& path, Split split) {
  if (split == Split::kTest) fail_without_validation(path, "a file");
  if (has_picture_extension(path.filename().string())) return one_picture(path);
  return read_image_list(path);
}

// The folder that is meant. What a model is judged on may be a folder without parts.
fs::path part_of(const fs::path& root, Split split) {
  const DataSetFolders parts = find_parts(root);
  if (split == Split::kTrain) return parts.train;
  if (!parts.validation.empty()) return parts.validation;
  if (!parts.test.empty()) return parts.test;
  if (split == Split::kJudged && parts.train == root) return root;
  fail_without_validation(root, "none");
}

ImageListing list_folder(const fs::path& root, Split split, const fs::path& cache_folder) {
  const fs::path train = root / "train.txt", validation = root / "val.txt";
  if (is_file(train) && is_file(validation)) {
    return read_image_list(split == Split::kTrain ? train : validation);
  }
  const fs::path part = part_of(root, split);
  ImageListing listing = list_images_cached(part, cache_folder);
  if (split == Split::kTest && listing.class_names.empty()) {
    fail_without_validation(part, "pictures without classes");
  }
  return listing;
}

}  // namespace

std::shared_ptr<const Source> open_pictures(const fs::path& path, Split split,
                                            const FolderOptions& options,
                                            const fs::path& cache_folder) {
  return std::make_shared<FolderSource>(
      is_file(path) ? list_file(path, split) : list_folder(path, split, cache_folder), options);
}

std::optional<TrainingPair> open_unsplit(const fs::path& path, std::uint32_t every,
                                         const FolderOptions& options,
                                         const fs::path& cache_folder) {
  if (!fs::is_directory(path) || is_file(path / "train.txt")) return std::nullopt;
  const DataSetFolders parts = find_parts(path);
  if (!parts.validation.empty()) return std::nullopt;
  if (!parts.test.empty() && !list_images_cached(parts.test, cache_folder).class_names.empty()) {
    return std::nullopt;
  }
  SplitParts split = split_listing(list_images_cached(parts.train, cache_folder), {.every = every});
  return TrainingPair{
      .train = std::make_shared<FolderSource>(std::move(split.train), options),
      .validation = std::make_shared<FolderSource>(std::move(split.validation), options)};
}

}  // namespace stoker::detail
