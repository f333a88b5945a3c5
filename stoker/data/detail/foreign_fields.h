// The fields of shards without a manifest: what all samples' .json say decides what they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/detail/class_numbers.h"
#include "stoker/data/detail/json_labels.h"
#include "stoker/data/sources/field_rows.h"
#include "stoker/data/sources/table_columns.h"

namespace stoker::detail {

// See all samples, finish, then add rows. A lone key of `labels` is
//   a flag of every sample: one class of that name;
//   a list of as many 0 and 1 in every sample: as many classes, named 0, 1, 2, …;
//   else lists of names or numbers: all that occur, sorted by name.
class ForeignFields {
 public:
  explicit ForeignFields(const TableColumns& keys) : keys_(keys) {}

  void see(const JsonLabels& labels);
  // Throws Error where a key is a list in some samples only. `where` is for messages.
  void finish(const std::string& where);
  [[nodiscard]] const std::vector<FieldInfo>& fields() const noexcept { return fields_; }
  void add_row(const JsonLabels& labels, FieldRows& rows) const;

 private:
  const TableColumns& keys_;
  ClassNumbers numbers_;
  ClassNumbers::Sorted sorted_;
  std::size_t flags_ = 0;  // of each sample
  bool all_flags_ = true, some_lists_ = false, all_lists_ = true, any_ = false;
  std::vector<FieldInfo> fields_;
};

}  // namespace stoker::detail
