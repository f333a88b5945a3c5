#include "stoker/data/sources/fields.h"

#include "stoker/core/invariant.h"

namespace stoker {

std::size_t number_count(std::span<const FieldInfo> fields) {
  std::size_t count = 0;
  for (const FieldInfo& field : fields) count += field.values.size();
  return count;
}

const FieldInfo* find_field(std::span<const FieldInfo> fields, std::string_view name) {
  for (const FieldInfo& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

std::size_t field_offset(std::span<const FieldInfo> fields, std::string_view name) {
  std::size_t offset = 0;
  for (const FieldInfo& field : fields) {
    if (field.name == name) return offset;
    offset += field.values.size();
  }
  throw InvariantError("no field " + std::string(name));
}

}  // namespace stoker
