#include "stoker/data/sources/source_task.h"

namespace stoker {

Task task_of(const Source& source) {
  if (find_field(source.fields(), kTargetField) != nullptr) return Task::kRegress;
  if (find_field(source.fields(), kClassesField) != nullptr) return Task::kMultilabel;
  return Task::kClassify;
}

const std::vector<std::string>& output_names(const Source& source) {
  for (const std::string_view name : {kTargetField, kClassesField}) {
    const FieldInfo* field = find_field(source.fields(), name);
    if (field != nullptr) return field->values;
  }
  return source.class_names();
}

}  // namespace stoker
