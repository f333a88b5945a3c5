// Pictures as a data set: what open_data does with a path that holds no IDX files.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "stoker/data/catalog.h"

namespace stoker::detail {

// `path` is
//   a folder with a folder for each class, or one with train/ and val/ in it (image_folder.h);
//   a folder with train.txt and val.txt, as `stoker split` writes them;
//   a list of pictures (image_list.h), or one picture.
// Listings of folders are kept in `cache_folder`; empty: they are not.
[[nodiscard]] std::shared_ptr<const Source> open_pictures(
    const std::filesystem::path& path, Split split, const FolderOptions& options,
    const std::filesystem::path& cache_folder);

// Pictures in class folders that have no validation part, divided; nothing where the path is
// something else.
[[nodiscard]] std::optional<TrainingPair> open_unsplit(const std::filesystem::path& path,
                                                       std::uint32_t every,
                                                       const FolderOptions& options,
                                                       const std::filesystem::path& cache_folder);

}  // namespace stoker::detail
