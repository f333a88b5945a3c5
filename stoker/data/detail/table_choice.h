// Which columns of a table of images are used, by their places.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/data/sources/table_columns.h"

namespace stoker::detail {

struct TableChoice {
  std::size_t path = 0;
  std::optional<std::size_t> label = {}, split = {}, weight = {};
  std::vector<std::size_t> labels = {}, targets = {};

  [[nodiscard]] bool has_labels() const { return label || !labels.empty() || !targets.empty(); }
};

// A name means the column that is called so, else the one that differs in case alone. Throws
// Error where a column does not exist, two could be meant, one is to be used twice, or, with
// `needs_labels`, none holds labels. Without it, labels and weights that are named and not there
// are done without. `table` is for messages.
[[nodiscard]] TableChoice choose_columns(std::span<const std::string> names,
                                         const TableColumns& columns, bool needs_labels,
                                         const std::string& table);

// The column of the parts alone.
[[nodiscard]] std::optional<std::size_t> choose_split_column(std::span<const std::string> names,
                                                             const TableColumns& columns,
                                                             const std::string& table);

}  // namespace stoker::detail
