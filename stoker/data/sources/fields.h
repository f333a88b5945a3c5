/// \file
/// What a sample carries besides its image and its class: numbers in named fields, such as a set of
/// classes, values to predict, or a weight. A source says once which fields its samples have.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/export.h"

namespace stoker {

/// 1 for each class that the sample has, else 0; the values are named after the classes.
inline constexpr std::string_view kClassesField = "classes";
/// Numbers to predict, named after their columns.
inline constexpr std::string_view kTargetField = "target";
/// One number, not negative: how much the sample counts in the loss.
inline constexpr std::string_view kWeightField = "weight";

/// One field, the same for all samples of a source.
struct FieldInfo {
  std::string name;
  std::vector<std::string> values;  ///< their names; a sample has this many numbers
  bool operator==(const FieldInfo&) const = default;
};

/// How many numbers a sample has in all fields together.
[[nodiscard]] STOKER_API std::size_t number_count(std::span<const FieldInfo> fields);
/// The field of that name; null where there is none.
[[nodiscard]] STOKER_API const FieldInfo* find_field(std::span<const FieldInfo> fields,
                                                     std::string_view name);
/// Where the numbers of that field begin among those of a sample. The field must exist.
[[nodiscard]] STOKER_API std::size_t field_offset(std::span<const FieldInfo> fields,
                                                  std::string_view name);

}  // namespace stoker
