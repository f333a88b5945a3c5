// Writes a table of images (image_table.h) again with all of its columns: some of its rows, or with
// another column of parts. Relative paths are changed so that they start at the new table's folder.
// Written as a whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "stoker/data/catalog.h"
#include "stoker/data/sources/table_columns.h"

namespace stoker {

// Sets the part of the rows in these lines; other rows keep theirs. Where the table has no column
// of parts, the last column, "split", is new. Throws Error where a column of that name is there and
// `columns` says that it is none, where rows would have no part, and where a file cannot be read or
// written.
void write_split_table(const std::filesystem::path& out, const std::filesystem::path& table,
                       const TableColumns& columns,
                       const std::unordered_map<std::uint32_t, Split>& parts);

// The rows in these lines alone.
void write_table_rows(const std::filesystem::path& out, const std::filesystem::path& table,
                      const TableColumns& columns, const std::set<std::uint32_t>& lines);

}  // namespace stoker
