// Shards as a dataset: what open_data does with a URL, a pattern, a manifest, or a folder of
// shards.
#pragma once

#include <memory>
#include <string>

#include "stoker/data/catalog.h"

namespace stoker::detail {

// A URL; a pattern with braces; a path that ends in .tar or is a manifest.tsv; a folder with one of
// the latter two in it or in its train/.
[[nodiscard]] bool names_shards(const std::string& text);

// Of a folder or prefix with train/, val/ and test/ in it the part; else all of it is training
// data. Throws Error where there are no shards, or no such part.
[[nodiscard]] std::shared_ptr<const Source> open_shards(const std::string& text, Split split,
                                                        const DataOptions& options);

[[nodiscard]] DataParts shard_parts(const std::string& text, const DataOptions& options);

}  // namespace stoker::detail
