// What the .json of a WebDataset's sample says of it, and the .json that is written for a sample.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/data/sources/fields.h"
#include "stoker/data/sources/table_columns.h"

namespace stoker::detail {

// The key of a set of classes that is written: {"labels": ["cat", "outdoor"]}.
inline constexpr const char* kJsonLabelsKey = "labels";

// The number or text of the field label, cls or class of the object, whichever comes first in this
// list; empty where there is none or the bytes are no JSON.
[[nodiscard]] std::string class_in_json(std::span<const std::byte> bytes);

struct JsonLabels {
  std::string class_text = {};  // of `label`
  // Of one key of `labels`: the elements of its list, as text. Where all of them are 0 or 1, true
  // or false, also as flags. Of several keys: a flag for each.
  std::vector<std::string> names = {};
  std::vector<bool> flags = {};
  bool is_list = false;             // false: one key, and its value is a flag
  std::vector<float> numbers = {};  // of `targets`, then of `weight`
  bool operator==(const JsonLabels&) const = default;
};

// Whether any key of a .json is asked for.
[[nodiscard]] bool names_keys(const TableColumns& columns);

// The values of the keys that are asked for. An error without a path where the bytes are no object,
// a key is missing, or its value does not fit.
[[nodiscard]] Result<JsonLabels> labels_in_json(std::span<const std::byte> bytes,
                                                const TableColumns& columns);

// A sample's fields as an object: names of classes under "labels", and each other number under its
// own name. Throws Error for a name that is not UTF-8, or that two numbers have.
[[nodiscard]] std::string json_of(std::span<const FieldInfo> fields,
                                  std::span<const float> numbers);

// The keys under which json_of() writes them.
[[nodiscard]] TableColumns json_keys(std::span<const FieldInfo> fields);

}  // namespace stoker::detail
