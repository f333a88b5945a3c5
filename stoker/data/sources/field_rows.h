/// \file
/// FieldRows: the numbers of many samples in named fields (fields.h), in little memory. Sets of
/// classes are kept as lists: of a thousand possible classes a sample has few.
///
/// A plain value; const members may be called by any number of threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/data/sources/fields.h"
#include "stoker/export.h"

namespace stoker {

/// The numbers of samples, one row for each.
class STOKER_API FieldRows {
 public:
  FieldRows() = default;
  /// Where there is a set of classes (kClassesField), it must be the first field.
  explicit FieldRows(std::vector<FieldInfo> fields);

  [[nodiscard]] std::span<const FieldInfo> fields() const noexcept { return fields_; }
  /// How many samples; 0 where there are no fields.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Adds a sample: places of its classes in the first field's values, rising, and the numbers of
  /// all other fields.
  void add(std::span<const std::uint32_t> classes, std::span<const float> numbers);
  /// Adds a sample of another value with the same fields.
  void add_row(const FieldRows& other, std::size_t row);
  /// Writes number_count(fields()) numbers.
  void read(std::size_t row, std::span<float> out) const;
  /// Places of a sample's classes; empty where that is no field.
  [[nodiscard]] std::span<const std::uint32_t> classes(std::size_t row) const;
  /// The numbers of all other fields.
  [[nodiscard]] std::span<const float> numbers(std::size_t row) const;
  bool operator==(const FieldRows&) const = default;

 private:
  [[nodiscard]] bool has_classes() const noexcept;

  std::vector<FieldInfo> fields_;
  std::size_t size_ = 0;
  std::size_t class_count_ = 0, number_count_ = 0;  // values of the first and of other fields
  std::vector<std::uint64_t> class_ends_;           // of each sample in classes_
  std::vector<std::uint32_t> classes_;
  std::vector<float> numbers_;
};

}  // namespace stoker
