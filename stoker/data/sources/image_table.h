// Tables of images: CSV or TSV with a header (detail/delimited_table.h). A column names the images,
// others their classes, numbers to predict, weights, and the part that a row belongs to.
//
//   path,label,split            path,cat,dog,outdoor      path;tags            path,angle
//   a/1.jpg,cat,train           a/1.jpg,1,0,1             a/1.jpg,cat;outdoor  a/1.jpg,12.5
//
// A relative path starts at the table's own folder. Classes are those of the whole table, sorted by
// name as for folders, so that all of its parts have the same. Labels of several columns keep the
// order in which the columns are named.
//
// Cost: one pass over the table, or two for a column of lists; a million rows of three columns take
// about 0.3 s. No file is looked at: one that is missing is found where it is read, and the error
// names its line; `stoker doctor` finds all of them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/catalog.h"
#include "stoker/data/sources/image_folder.h"
#include "stoker/data/sources/table_columns.h"

namespace stoker {

struct TableRequest {
  TableColumns columns = {};
  bool needs_labels = true;  // false: a table without labels is images without classes
  // Classes and their order, where the table has no others: those of a model or of training data.
  std::vector<std::string> known_classes = {};
  bool repeated_paths = false;  // an image may come twice, for who wants to report it
};

// Whether the file is a table by its extension: .csv or .tsv. A list of images (image_list.h) under
// such a name is none: its first line names an image instead of columns.
[[nodiscard]] bool is_image_table(const std::filesystem::path& path);

// The rows of one part in the table's order, with their lines; `bytes` and `modified_ns` are 0.
// Fields are kClassesField or kTargetField, then kWeightField. Throws Error, with line and column,
// for what is no such table, a cell that is empty or does not fit, an image that comes twice, and
// where the part has no rows.
[[nodiscard]] ImageListing read_image_table(const std::filesystem::path& path, Split split,
                                            const TableRequest& request = {});

// The same of a text; `path` says how it is delimited and where it lies.
[[nodiscard]] ImageListing parse_image_table(std::string_view text,
                                             const std::filesystem::path& path, Split split,
                                             const TableRequest& request = {});

// Reads the column of the parts alone.
[[nodiscard]] DataParts table_parts(const std::filesystem::path& path, const TableColumns& columns);

}  // namespace stoker
