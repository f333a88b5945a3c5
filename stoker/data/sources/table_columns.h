/// \file
/// Which columns of a table of images (CSV or TSV) are used, by their names. A plain value.
#pragma once

#include <string>
#include <vector>

namespace stoker {

/// At most one of `label`, `labels` and `targets` is given. Without any of them, the label is the
/// column named label, class or category, in letters of any case.
struct TableColumns {
  std::string path = {};   ///< empty: path, file, filename, image, …, else the first column
  std::string label = {};  ///< the class of each image
  /// Empty: the column named split, if there is one. "none": the table is not divided.
  std::string split = {};
  std::string weight = {};  ///< how much an image counts; empty: all count the same
  /// Columns of 0 and 1, one for each class; or one column of lists, such as "cat;dog".
  std::vector<std::string> labels = {};
  std::vector<std::string> targets = {};  ///< numbers to predict
  bool operator==(const TableColumns&) const = default;
};

}  // namespace stoker
