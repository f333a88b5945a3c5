// Images as a dataset: what open_data does with a path that holds no IDX files.
#pragma once

#include <filesystem>
#include <memory>

#include "stoker/data/catalog.h"

namespace stoker::detail {

// `path` is
//   a folder with a folder for each class, or one with train/, val/ and test/ (image_folder.h);
//   a folder with train.txt and with val.txt, test.txt or both, as `stoker split` writes them;
//   a table of images (image_table.h), a list of images (image_list.h), or one image.
// Listings of folders are kept in `cache_folder`; empty: they are not. Throws Error where there is
// no such part.
[[nodiscard]] std::shared_ptr<const Source> open_images(const std::filesystem::path& path,
                                                        Split split, const DataOptions& options,
                                                        const std::filesystem::path& cache_folder);

[[nodiscard]] DataParts image_parts(const std::filesystem::path& path,
                                    const TableColumns& columns = {});

}  // namespace stoker::detail
