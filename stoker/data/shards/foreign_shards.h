// Shards of others, as WebDataset writes them, without index or manifest: read once, and what was
// found is kept in the cache under a name that follows from the shards' names, sizes and versions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/data/shards/shard_set.h"
#include "stoker/data/sources/table_columns.h"

namespace stoker {

// Classes are the numbers of .cls where all are numbers, else the names that occur, sorted. Columns
// of `keys` are keys of each sample's .json (detail/json_labels.h) and make its fields. Throws
// Error where a shard cannot be read, or some samples have a class and others none.
[[nodiscard]] std::shared_ptr<const ShardSet> open_foreign_shards(
    std::shared_ptr<const Store> store, const std::vector<std::string>& names,
    const ShardOptions& options, const TableColumns& keys = {});

// "a-{08..10}.tar" is a-08.tar, a-09.tar, a-10.tar; several braces multiply. Throws Error for a
// range that is none, or more than ten million names.
[[nodiscard]] std::vector<std::string> expand_braces(const std::string& pattern);

}  // namespace stoker
