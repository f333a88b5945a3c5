// Parts of data, written as text: a name or path, then optionally which split of it, then
// optionally a range of indices; several parts are separated by commas and joined in their order.
//
//   mnist:train[50000:60000]           the last 10,000 training images
//   mnist:test,mnist:train[500:50000]  the test images, then 49,500 training images
//   photos[:100]                       the first 100 of whichever split is asked for
//
// Ends that are not given are those of the split. In a list every part names a split or a range, so
// that paths with commas keep their meaning. Pure functions, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/sources/source_range.h"

namespace stoker {

struct DataTerm {
  std::string data;        // a name or path, as for --data
  std::string split = {};  // "train", "val", "test", or "": what is asked for
  std::optional<IndexRange> range = {};
  bool operator==(const DataTerm&) const = default;
};

// Empty where the text names no split and no range: then it is a name or path as it stands. Throws
// Error where a range cannot be read, or a list has a part without split and range.
[[nodiscard]] std::vector<DataTerm> parse_data_expression(std::string_view text);

// As it was written.
[[nodiscard]] std::string text_of(const DataTerm& part);

}  // namespace stoker
