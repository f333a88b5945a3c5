#include "stoker/data/sources/fields_text.h"

#include <fmt/format.h>

namespace stoker {

std::string fields_text(std::span<const FieldInfo> fields, std::span<const float> numbers) {
  std::string text;
  if (const FieldInfo* field = find_field(fields, kClassesField)) {
    const std::size_t begin = field_offset(fields, kClassesField);
    for (std::size_t i = 0; i < field->values.size(); ++i) {
      if (numbers[begin + i] == 0) continue;
      text += (text.empty() ? "" : ";") + field->values[i];
    }
    return text.empty() ? "nothing" : text;
  }
  const FieldInfo* field = find_field(fields, kTargetField);
  if (field == nullptr) return "";
  const std::size_t begin = field_offset(fields, kTargetField);
  for (std::size_t i = 0; i < field->values.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", field->values[i], numbers[begin + i]);
  }
  return text;
}

}  // namespace stoker
